"""`python -m kcli`."""

import sys

from kcli.cli.main import main

sys.exit(main())
