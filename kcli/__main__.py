"""`python -m kcli`."""

import sys

from kcli.cli.main import main
from kcli.watchdog import arm

arm()
sys.exit(main())
