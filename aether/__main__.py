"""`python -m aether`: the command line, or the window without a verb."""

import sys

from aether.cli import main

sys.exit(main())
