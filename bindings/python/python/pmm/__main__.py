"""``python -m pmm`` is the program ``pmm``."""

import sys

from ._program import main

sys.exit(main())
