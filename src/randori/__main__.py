"""`python -m randori` is the command line."""

import sys

from randori.cli import main

sys.exit(main())
