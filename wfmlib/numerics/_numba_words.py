"""A word to whoever waits in a terminal while kernels are compiled.

In notebooks and pipes nothing is said: there it would stand among the results.
"""

from __future__ import annotations

import sys
import time

PATIENCE = 2.0  # seconds of compiling in a process before it is told
WORD = "wfmlib compiles its kernels for this processor; they are kept for the next time\n"


def listener(events, clock=time.perf_counter):
    """Return what numba tells of its compiling, from the module ``numba.core.event``."""

    class Waiting(events.Listener):
        depth, seconds, began = 0, 0.0, 0.0  # a kernel compiles those that it calls
        told = False

        def on_start(self, event):
            if self.depth == 0:
                self.began = clock()
            self.depth += 1
            waited = self.seconds + clock() - self.began
            if not self.told and waited > PATIENCE:
                self.told = True
                if sys.stderr is not None and sys.stderr.isatty():
                    sys.stderr.write(WORD)

        def on_end(self, event):
            self.depth -= 1
            if self.depth == 0:
                self.seconds += clock() - self.began

    return Waiting()


def tell(events) -> None:
    """Have numba's compiling told, once in a process."""
    events.register("numba:compile", listener(events))
