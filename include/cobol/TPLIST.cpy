      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_LIST, which gives the next task after AFTER-ID. Spaces
      *> mean any.
       01 TP-LIST.
           05 FILLER PIC S9(9) COMP-5 VALUE 264.
           05 TPL-AFTER-ID PIC X(36) VALUE SPACES.
           05 TPL-POOL PIC X(8) VALUE SPACES.
           05 TPL-STATE PIC X(8) VALUE SPACES.
           05 TPL-HANDLER PIC X(72) VALUE SPACES.
           05 TPL-BIZ-KEY PIC X(136) VALUE SPACES.
