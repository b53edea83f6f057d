      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_ONCE.
       01 TP-ONCE.
           05 FILLER PIC S9(9) COMP-5 VALUE 140.
           05 TPO-KEY PIC X(136) VALUE SPACES.
