"""`python -m tests.attack`."""

import sys

from tests.attack.run import main

if __name__ == "__main__":  # not in the processes that the attack starts
    sys.exit(main())
