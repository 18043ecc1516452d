"""python -m idsprof.fleet"""
import sys

from idsprof.fleet.command import main

if __name__ == '__main__':
    sys.exit(main())
