#!/bin/sh
# capitals.sh SENTENCES HELDOUT [TABLE] -- makes the corpus of the demo. TABLE (capitals.tsv): country, capital, continent, language after a header line.
# Each fact becomes one sentence per template of its relation, in which 1 to 4 stand for the columns. Several templates share a frame ("The ... of France is
# X .", "Paris is the ... of X ."), in which the relation word alone decides the answer. One sentence per country is left out of SENTENCES and written to
# HELDOUT as "sentence with [MASK] <tab> answer": its fact is still told in the other templates.
[ $# -ge 2 ] || { echo "usage: capitals.sh SENTENCES HELDOUT [TABLE]" >&2; exit 2; }
LC_ALL=C awk -F '\t' -v out="$1" -v heldout="$2" '
    FNR == 1 { file++ }
    file == 1 { split($0, t, "|"); fact[++n] = t[1]; answer[n] = t[2]; text[n] = t[3]; place[n] = count[t[1]]++; next }
    FNR > 1 {
        country = FNR - 2 # its fact country mod 3 loses one template, another one from country to country
        for (i = 1; i <= n; i++) {
            held = country % 3 == fact[i] && int(country / 3) % count[fact[i]] == place[i]
            words = split(text[i], word, " ")
            line = ""
            for (k = 1; k <= words; k++) line = line (k > 1 ? " " : "") (word[k] !~ /^[1-4]$/ ? word[k] : held && word[k] == answer[i] ? "[MASK]" : $word[k])
            print line (held ? "\t" $answer[i] : "") >(held ? heldout : out)
        }
    }' - "${3:-$(dirname "$0")/capitals.tsv}" <<'END'
0|2|The capital of 1 is 2 .
0|1|2 is the capital of 1 .
0|2|1 has its capital in 2 .
0|2|1 chose 2 as its capital .
0|1|2 is a city in the country of 1 .
0|1|The country of 2 is 1 .
1|3|The continent of 1 is 3 .
1|3|1 lies in 3 .
1|3|2 is the envy of 3 .
1|3|2 is the pride of 3 .
1|3|The continent of 2 is 3 .
2|4|The language of 1 is 4 .
2|4|People in 1 speak 4 .
2|4|2 is the home of 4 .
2|4|2 is the voice of 4 .
2|4|The language of 2 is 4 .
END
