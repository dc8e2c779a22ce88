"""The commands of `wfm`, one file each: how its arguments are added, and what runs it."""
