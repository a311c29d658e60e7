# What to do next: commands that a training run suggests have words of its data, and a mistake names what was probably meant.
facts >facts.txt

# A text without the usual letters, of one line, of short lines, without spaces, of nothing that can be typed.
suggests() {
    run train gpt text.txt -o "a run" --force $SMALL
    status 0
    says "heed generate 'a run'$1"
    command=$(sed -n "s/^  heed //p" out | head -n 1)
    eval "run $command"
    status 0
    hides "unknown to the vocabulary"
}
for i in 1 2 3 4 5 6 7 8 9; do echo "abab cdcd abab"; done >text.txt
suggests ' --prompt "abab cdcd abab"'
tr '\n' ' ' <text.txt >line.txt && mv line.txt text.txt
suggests ' --prompt "abab cdcd abab"'
for i in 1 2 3 4 5 6 7 8 9; do printf 'emma\nolivia = 1\n'; done >text.txt
suggests ' --prompt "emma"'
for i in 1 2 3 4 5 6 7 8 9; do printf '我喜欢吃苹果，也喜欢香蕉。\n'; done >text.txt
suggests ' --prompt "我喜欢吃苹果，也喜欢香蕉。"'
for i in 1 2 3 4 5 6 7 8 9; do printf '(){}[]$\n'; done >text.txt
suggests ''
run train mlm text.txt -o "a run" --force --tokenizer char $SMALL
says "heed fill 'a run' \"[MASK]\""

# Pairs and texts of a CSV file.
(echo label,text && for i in 1 2 3 4; do printf 'good,"a $ film, it is"\nbad,"no film, it is"\n'; done) >texts.csv
run train textcls texts.csv -o class --width 16 --steps 2
status 0
says 'heed classify class "no film, it is"'
