# The worked example: steps, settings, files, sheets.
run explain
status 0
quiet
says "lion     [0 1 3 0 0 0 0 0 0 0]   NOUN [0 2 0]   [1 6 0]"
says "11x10                 ·      10x3    = 11x3"
says "Q[lion, 2] = 1·0 + 3·2 = 6"
says "raw[lion, attacked] = 1·2 + 6·6 = 38"
says "scaled[lion, attacked] = 0.5774·38 = 21.94"
says "zebra    [2.50 3.50]"
says "NOUN queries VERB; VERB queries NOUN, OBJ,"
run explain --json
status 0
json example lion
json tokens.3 attacked
json features.7 PREP
json Q.2.1 6.0
json raw.2.3 38.0
json weights.0.0 0.0909090909
json hard false
