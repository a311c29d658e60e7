# Data as people have it: the standard input, several texts, folders, patterns, two parallel texts, CSV.
facts >facts.txt
head -n 40 facts.txt >a.txt
tail -n +41 facts.txt >b.txt
printf 'a text without an end' >c.md
mkdir -p texts/deep
cp a.txt texts/deep/1.txt
cp c.md texts/2.md
head -c 3000 /dev/urandom >texts/noise
cp texts/noise noise

# The text of the standard input becomes a file of the run, which can be resumed, moved and evaluated.
ok_with facts.txt train gpt - -o in $SMALL
warns "heed: standard input, 3.3 KB: copied to in/heed-data.txt"
holds cmp -s facts.txt in/heed-data.txt
train_gpt file
holds cmp -s file/model.safetensors in/model.safetensors
mv in moved
ok resume moved --steps 7
ok eval moved
run eval file facts.txt --json
sed 's/facts.txt/standard input/' out >whole
ok_with facts.txt eval file - --json
holds cmp -s whole out
# What a process that still reads has written is kept, however old; what one that was killed has left is removed.
mkfifo pipe
"$HEED" train gpt - -o held $SMALL --steps 1 <pipe >held.out 2>&1 &
exec 3>pipe
i=0
until held=$(ls -a | grep '^\.heed-data-......$') || [ $((i += 1)) -gt 200 ]; do sleep 0.05; done
touch -t 202001010000 .heed-data-killed "$held"
touch .heed-data-fresh
ok_with facts.txt train gpt - -o moved $SMALL --force
absent .heed-data-killed
holds test -e .heed-data-fresh
rm .heed-data-fresh
cat facts.txt >&3
exec 3>&-
wait $!
holds cmp -s facts.txt held/heed-data.txt
run train gpt moved/heed-data.txt -o moved $SMALL --force
refuses 2 "a file of the run that would be replaced"
holds cmp -s facts.txt moved/heed-data.txt

# Several texts, folders and patterns, in their order; what is no text is named.
ok train gpt a.txt b.txt -o runs/two $SMALL
holds cmp -s facts.txt runs/two/heed-data.txt
holds cmp -s file/model.safetensors runs/two/model.safetensors
# The copies of runs on the same texts are the same data.
ok compare file runs/two
quiet
says "no setting differs"
ok train gpt c.md texts 'b*.txt' -o many $SMALL --steps 1
warns "left out: this is not a text: texts/noise"
warns "4 texts, "
run compare many runs/two
warns "runs are on different data: many on many/heed-data.txt, runs/two on runs/two/heed-data.txt"
(cat c.md && echo && cat c.md && echo && cat a.txt b.txt) >expected
holds cmp -s expected many/heed-data.txt
# Joined inputs need no folder that can be written, where no run is made.
COMMAND="train gpt - --estimate, in a folder that was removed"
mkdir gone
top=$(pwd)
(cd gone && rmdir "$top/gone" && "$HEED" train gpt - --estimate --steps 1 <"$top/a.txt" >"$top/out" 2>"$top/err")
STATUS=$?
status 0
says "in the run: weights twice, the state of the optimizer, and the data"
ok data check gpt a.txt b.txt
says "2 texts"
says "heed train gpt a.txt b.txt -o runs/first"
# What the data of a run is does not change with its file: a run on another text at the same path, and one whose file was edited.
cp facts.txt edited.txt
run train gpt edited.txt -o runs/edited $SMALL
cp a.txt edited.txt
run compare file runs/edited
quiet
says "no setting differs"
run train gpt edited.txt -o runs/shorter $SMALL
run compare runs/edited runs/shorter --json
warns "runs are on different data: runs/edited on edited.txt, runs/shorter on edited.txt (checksum "
json settings.data.0 edited.txt
# The checksum includes the text of validation, and only a whole one counts.
head -12 facts.txt >some.txt
run train gpt facts.txt --val some.txt -o runs/val $SMALL
run compare file runs/val
quiet
says "some.txt"
hides "checksum"
cp -R runs/shorter runs/damaged
for sum in '"none of a checksum"' 5; do
    sed "s/\"data_checksum\": *\"[0-9a-f]*\"/\"data_checksum\": $sum/" runs/shorter/last/state.json >runs/damaged/last/state.json
    run compare runs/edited runs/damaged
    quiet
    hides "checksum"
done
rm edited.txt
run compare runs/shorter file runs/edited
warns "runs are on different data: runs/shorter on edited.txt, file on facts.txt"
says "data=facts.txt"
run train gpt a.txt noise -o no
refuses 3 "this is not a text: noise"
for command in "train gpt moved -o no" "eval moved many" "heads moved many"; do
    run $command
    refuses 2 "is a run: expected a text file"
done
refused <<'END'
3 train gpt a.txt missing.txt -o no | cannot read missing.txt
3 train gpt fact.txt | cannot read fact.txt: No such file or directory; did you mean facts.txt?
3 data check gpt ./fatcs.txt | did you mean ./facts.txt?
END
ln -s nowhere link.txt
refused <<'END'
3 train gpt link.txt | cannot read link.txt: No such file or directory; expected a text file
3 tokenizer train facts.tx | did you mean facts.txt?
END
cp noise names.CSV
run train vit names.CSV -o no
hides "is a file: vit reads"
(printf '\n\n'; yes 'no tab here' | head -n 500; printf 'pos\ta text\nneg\tanother\n') >late.tsv
run data check textcls late.tsv
hides "has no tabs"
printf '\n \n{"label": "pos", "text": "good"}\n{"label": "neg", "text": "bad"}\n' >blank.data
run data check textcls blank.data
hides "has no tabs"
run train textcls a.txt -o no
refuses 3 "a.txt has no tabs: textcls reads"
warns 'hint: `heed train mlm a.txt -o no`, if it is a text'
refused <<'END'
3 train gpt 'x*.txt' -o no | no file matches x*.txt
2 train gpt - a.txt -o no | expected it alone
END
for bytes in 'ab\377\n' 'ab\000c\n' ''; do
    printf "$bytes" >bytes
    run_with bytes train gpt - -o no
    refuses 3 "standard input"
done
run_with /dev/zero train gpt - -o no
refuses 3 "found a NUL byte"
run train vit - -o no
refuses 2 "vit reads a folder of pictures"

# Two parallel texts are lines of pairs; blank sides are left out, tabs do not part columns.
i=0
while [ $((i += 1)) -le 20 ]; do
    echo "one $i" >>text.en
    printf 'un\t%s\n' $i >>text.fr
done
printf '\nx\n' >>text.en
printf 'y\ny\n' >>text.fr
ok train seq2seq text.en text.fr -o pairs $SMALL --steps 1
warns "1 lines are blank on a side"
warns "two parallel texts, "
holds grep -qxF '{"source":"one 12","target":"un\t12"}' pairs/heed-data.jsonl
holds test "$(wc -l <pairs/heed-data.jsonl)" = 21
ok eval pairs text.en text.fr
says "two parallel texts"
head -n 21 text.fr >short.fr
refused <<'END'
3 train seq2seq text.en short.fr -o no | text.en has 22 lines, short.fr has 21
3 train seq2seq text.fr text.en -o no | text.fr has a tab in its first line
END
for same in text.en ./text.en; do
    run train seq2seq text.en $same -o no
    refuses 3 "the two texts are one file: text.en: expected the sources in one"
done
refused <<'END'
3 train seq2seq a.txt -o no | seq2seq reads a file of pairs of texts, TSV, CSV or JSONL, or two parallel texts; in TSV a line has a source
2 train seq2seq a b c -o no | one argument too many: c
END
# Quotes around whole lines, and first lines that could name columns, are text.
{ printf '"Yes."\nEnglish\n' && seq 1 30 | sed 's/.*/"line &"/'; } >quoted.en
{ printf '"Oui."\nFrench\n' && seq 1 30 | sed 's/.*/"ligne &"/'; } >quoted.fr
ok train seq2seq quoted.en quoted.fr -o quoted $SMALL --steps 1
holds grep -qxF '{"source":"\"Yes.\"","target":"\"Oui.\""}' quoted/heed-data.jsonl
holds test "$(wc -l <quoted/heed-data.jsonl)" = 32
ok_with pairs/heed-data.jsonl data check seq2seq -
says "standard input"

ok data check seq2seq text.en text.fr --block 6
says "--tokenizer wordpiece makes tokens of"
says " --minutes 2 --tokenizer wordpiece --block 6"
run data check seq2seq text.en text.fr --block 6 --tokenizer char
hides "--tokenizer char"
ok data check seq2seq text.en text.fr --block 16
hides "makes tokens of"

# CSV with names of columns, also from the standard input; columns by name and number.
printf 'id,review,stars\n1,"good, ""very"" good",5\n2,"bad\nfilm",1\n3,fine,5\n4,awful,1\n5,great,5\n' >reviews.csv
run data check textcls reviews.csv
refuses 3 "expected a first line that names text and label, found id, review, stars; hint: --columns review,stars, the names or numbers of text and label"
sed 1s/review/prose/ reviews.csv >prose.csv
run data check textcls prose.csv
refuses 3 "found id, prose, stars; hint: --columns prose,stars, the names or numbers of text and label"
# Of columns that are given by number, the line that names them is no data where it is known as such.
ok data check textcls reviews.csv --columns 2,3 --json
json header true
json pairs 4
run data check textcls reviews.csv --columns 2,3
hides "is read as data"
ok train textcls reviews.csv --columns review,stars -o stars $SMALL --steps 1
ok eval stars reviews.csv
tail -n +2 reviews.csv >rows.csv
ok data check textcls rows.csv --columns 2,3 --json
json header false
json pairs 4
run data check textcls rows.csv --columns 2,3
says "the first line is read as data; if it names the columns: --header yes"
run data check textcls reviews.csv --columns review,star
refuses 3 "names review,star, found id, review, stars"
printf 'id,Review Text,Stars,Sentiment\n1,good,5,pos\n2,bad,1,neg\n' >words.csv
for columns in "" "--columns review,sentiment"; do
    run data check textcls words.csv $columns
    refuses 3 "found id, Review Text, Stars, Sentiment; hint: --columns 'Review Text,Sentiment', the names or numbers of"
done
printf 'text,label\na b,x\nc d,y\ne f,x\ng h,y\n' >few.csv
ok_with few.csv train textcls - -o few $SMALL --steps 1
holds cmp -s few.csv few/heed-data.csv
# Semicolons, as spreadsheets write where a comma is the decimal sign; a comma in the first line wins.
printf 'text;label\r\n"a; b";x\r\nc, d;y\r\ne f;x\r\ng h;y\r\n' >semicolons.csv
ok data check textcls semicolons.csv --json --val-split 0
json header true
json pairs 4
json labels.1.label y
printf '"one, two";three\nx;y\n' >both.csv
run data check textcls both.csv --columns 1,2 --json --val-split 0
json pairs 2
printf 'text,label\na;b,x\nc;d,y\n' >commas.csv
run data check textcls commas.csv --json
json labels.0.label x
printf 'text;label\n"a"b;x\n' >quoted.csv
run data check textcls quoted.csv
refuses 3 "quoted.csv:2: expected a semicolon or the end of the line after a quoted field"
printf 'text,label,Text\na,x,b\nc,y,d\n' >twice.csv
for columns in "" "--columns text,label"; do
    run data check textcls twice.csv $columns
    refuses 3 "two columns have one name: twice.csv:1: columns 1 and 3 are named text; hint: --columns accepts numbers, too"
done
ok data check textcls twice.csv --columns 3,2
printf '{"text":"a","label":"x","Text":"b"}\n' >twice.jsonl
run data check textcls twice.jsonl
refuses 3 "twice.jsonl:1: expected one of them, found text and Text; hint: rename one"
# What a hint suggests is taken by eval, by the analyses, and for a file of validation.
printf 'text,label\na b,x\nc d,y\ne f,x\ng h,y\n' >names.csv
printf 'prose,stars\na b,x\nc d,y\n' >other.csv
run train textcls names.csv --val other.csv -o other $SMALL --steps 1
refuses 3 "hint: --val-columns prose,stars, the names"
ok train textcls names.csv --val other.csv --val-columns prose,stars -o other $SMALL --steps 1
run eval other other.csv
refuses 3 "hint: --columns prose,stars, the names"
run eval other other.csv --columns prose,stars --json
json items 2
run eval other other.csv --columns 1,2 --header yes --json
json items 2
ok heads other other.csv --columns prose,stars
# A carriage return within a line is a character, in files as in the standard input; old Macs' lines are named.
printf 'go\nrun\ron\nsee\n' >cr.en
printf 'va\ncours\nvois\n' >cr.fr
run data check seq2seq cr.en cr.fr --val-split 0 --json
json pairs 3
paste cr.en cr.fr >cr.tsv
run_with cr.tsv data check seq2seq - --val-split 0 --json
json pairs 3
printf 'one\rtwo\r' >mac.txt
run data check gpt mac.txt
refuses 3 "lines end with CR, as on old Macs: mac.txt: expected LF or CR LF; hint: \`tr '\\r' '\\n' < 'mac.txt' > 'mac.lf.txt'\`"
printf 'text,label\n"never closed,x\n' >open.csv
run data check textcls open.csv
refuses 3 "open.csv:2: expected a double quote that ends the field"
absent no
holds test -z "$(find . -name '.heed-data*')"

# Prompts from a pipe or file, a line each; an empty input is refused.
printf 'Paris\n\nRome\n' >prompts
ok_with prompts generate file --n 3
holds test "$(grep -c '^---$' out)" = 1
holds grep -q '^Paris' out
holds grep -q '^Rome' out
run_with prompts generate file - --n 3 --json
json samples
holds test "$(wc -l <out)" = 2
run train gpt facts.txt -o blocks --packing blocks $SMALL
ok generate blocks --n 3
cp out none
: >empty
for command in "generate file -" "embed file" "attend file -" "tokenizer encode file" "influence file -" "explain file -"; do
    run_with empty $command
    refuses 3 "standard input: no lines: expected the input of heed ${command%% file*}"
done
for command in "train mlm - -o no" "eval file -"; do
    run_with empty $command
    refuses 3 "standard input is empty: expected a text, found 0 bytes; hint: is the file or the pipe empty?"
done
run_with empty train textcls - -o no
refuses 3 "standard input is empty: expected lines of data"
# One input of the standard input, for commands that show one.
printf '\nParis\n' >line
for command in "influence file" "explain file"; do
    run $command Paris
    cp out one
    ok_with line $command -
    holds cmp -s one out
    run_with prompts $command -
    refuses 3 "standard input has several lines: ${command% file} shows one input"
    printf 'Pa\000ris\n' >bytes
    run_with bytes $command -
    refuses 3 "the input is not text: byte 0x00"
done
ok_with line influence file,file -
run_with empty generate file --n 3
refuses 3 "standard input: no lines"
ok_with empty generate blocks --prompt "" --n 3
holds cmp -s none out
run_with prompts generate file --prompt Oslo --n 3
holds grep -q '^Oslo' out

# Lines of pairs without a tab, from the standard input: the first one is named.
printf 'hello world\nfoo bar\n' >untabbed.txt
for task in rnn:source textcls:label tag:words; do
    run_with untabbed.txt train ${task%%:*} - -o untabbed
    refuses 3 "line is wrong: standard input:1: expected ${task##*:} TAB"
    absent untabbed
done
printf 'source,target\na,b\nc,d\n' >commas.csv
ok_with commas.csv data check rnn - --val-split 0

# One line that is longer than a block is a line.
{ yes 'the king sees the sea' | head -60; echo 'one two three four five six seven eight nine ten'; } >cut.txt
run data check gpt cut.txt --tokenizer word --packing lines --block 9
says "1 line is cut at --block 9"
run train gpt cut.txt -o cut --tokenizer word --packing lines --block 9 --steps 1
warns "1 line is cut at --block 9"
run data check gpt cut.txt --tokenizer word --packing lines --block 4
says "61 lines are cut at --block 4"

# Lines of names may be kept apart; those of prose that is broken at a width are no examples of their own.
i=0
while [ $i -lt 60 ]; do
    i=$((i + 1))
    echo "Emma$i" >>names.txt
    echo "and so the long sentence goes on and on, over many" >>wrapped.txt
done
run data check gpt names.txt --block 128
says "--packing lines keeps them apart"
ok data check gpt wrapped.txt --block 128
hides "--packing lines"
