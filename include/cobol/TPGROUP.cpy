      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For the calls TP_GROUP_...
       01 TP-GROUP.
           05 FILLER PIC S9(9) COMP-5 VALUE 1000.
      *> When it has ended.
           05 TPU-RULE PIC S9(9) COMP-5 VALUE 0.
               88 TPU-GROUP-ALL-DONE VALUE 0.
               88 TPU-GROUP-ALL-ENDED VALUE 1.
           05 TPU-NAME PIC X(136) VALUE SPACES.
      *> The group within which it is; spaces: none.
           05 TPU-PARENT PIC X(136) VALUE SPACES.
           05 TPU-WHO PIC X(136) VALUE SPACES.
           05 TPU-WHY PIC X(520) VALUE SPACES.
      *> TP_GROUP_SHOW: open, closed, ended; and its tasks.
           05 TPU-STATE PIC X(8) VALUE SPACES.
           05 TPU-TASKS PIC S9(18) COMP-5 VALUE 0.
           05 TPU-WAITING PIC S9(18) COMP-5 VALUE 0.
           05 TPU-HANDLING PIC S9(18) COMP-5 VALUE 0.
           05 TPU-DONE PIC S9(18) COMP-5 VALUE 0.
      *> Also of TP_GROUP_CANCEL: how many it skipped.
           05 TPU-SKIPPED PIC S9(18) COMP-5 VALUE 0.
           05 TPU-FAILED PIC S9(18) COMP-5 VALUE 0.
      *> Tasks that wait for its end.
           05 TPU-WAITING-AFTER PIC S9(18) COMP-5 VALUE 0.
