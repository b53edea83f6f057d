      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_CANCEL.
       01 TP-CANCEL.
           05 FILLER PIC S9(9) COMP-5 VALUE 752.
      *> What became of the task.
           05 TPX-ANSWER PIC S9(9) COMP-5 VALUE 0.
               88 TPX-CANCEL-UNKNOWN VALUE 0.
               88 TPX-CANCEL-SKIPPED VALUE 1.
               88 TPX-CANCEL-ASKED VALUE 2.
               88 TPX-CANCEL-LATE VALUE 3.
      *> Its state, where it has ended.
           05 TPX-STATE PIC X(16) VALUE SPACES.
           05 TPX-ID PIC X(36) VALUE SPACES.
      *> Of TP-REQUESTED: what a second person approves.
           05 TPX-REQUEST-ID PIC X(36) VALUE SPACES.
      *> Who asks, and why; both are kept.
           05 TPX-WHO PIC X(136) VALUE SPACES.
           05 TPX-WHY PIC X(520) VALUE SPACES.
