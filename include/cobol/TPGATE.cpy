      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_GATE_SET, TP_GATE_SHOW and TP_GATE_REMOVE.
       01 TP-GATE.
           05 FILLER PIC S9(9) COMP-5 VALUE 248.
      *> At a time; 0: 1, or as many as tokens; -1: closed.
           05 TPG-WIDTH PIC S9(9) COMP-5 VALUE 0.
      *> At most so many in any PERIOD-MS; 0: any.
           05 TPG-TOKENS PIC S9(9) COMP-5 VALUE 0.
      *> When a task of it goes to the failed pool.
           05 TPG-ON-FAILURE PIC S9(9) COMP-5 VALUE 0.
               88 TPG-GATE-BLOCK VALUE 0.
               88 TPG-GATE-PASS VALUE 1.
           05 TPG-PERIOD-MS PIC S9(18) COMP-5 VALUE 0.
      *> TP_GATE_SHOW: let through and not ended.
           05 TPG-THROUGH PIC S9(18) COMP-5 VALUE 0.
           05 TPG-WAITING PIC S9(18) COMP-5 VALUE 0.
           05 TPG-NAME PIC X(72) VALUE SPACES.
           05 TPG-WHO PIC X(136) VALUE SPACES.
