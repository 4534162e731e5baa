"""`python -m ppagent`: the same as the command."""

import sys

from ppagent.cli.main import main

sys.exit(main())
