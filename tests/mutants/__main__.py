import sys

from tests.mutants.run import main

sys.exit(main())
