# Man pages and the completion of command lines.
refused <<'END'
2 completion | missing SHELL
2 completion fish | unknown shell fish: expected bash, zsh or words
END

# What may follow some words.
words() { run completion words -- "$@"; status 0; quiet; cut -f1 out >words; }
offers() { for word; do if grep -qxF -- "$word" words; then pass; else fail "offers no $word"; fi; done; }
lacks() { for word; do if grep -qxF -- "$word" words; then fail "offers $word"; else pass; fi; done; }
words
offers train tokenizer data help completion
holds [ "$(grep -cx tokenizer words)" = 1 ]
words help
offers train tokenizer
words tokenizer
offers train encode decode info
lacks attend
words help tokenizer
offers train info
words train
offers mlm gpt vit --out -c --help
lacks :files
words help train
offers mlm gpt
words train gpt
offers :files --layers --no-tie --force --out --threads
lacks mlm --patch --plan --no-force --no-layers
words train vit
offers --patch
words train gpt book.txt --norm
holds [ "$(cat words)" = "pre
post" ]
words train gpt --preset
offers nano llama-nano
words train gpt --lr
holds [ ! -s words ]
words train gpt -o
offers :files
words train gpt book.txt -o run --tie
offers :files --layers
words train gpt --lr=0.1
offers --layers
words attend run --stack
offers encoder decoder cross
words nonsense
holds [ ! -s words ]
# Each command has words, and each of its options is one that it takes.
"$HEED" --help | sed -n 's/^  \([a-z]*\( [a-z]*\)\{0,1\}\)   *[a-z].*/\1/p' >commands
holds [ "$(wc -l <commands)" -gt 30 ]
while read -r name; do
    # shellcheck disable=SC2086
    words $name
    offers --help
done <commands

# bash asks for them, with the words that the user has typed.
if command -v bash >/dev/null 2>&1; then
    run completion bash
    cp out completion.bash
    COMMAND="completion bash"
    cat >complete.bash <<'BASH'
source ./completion.bash
COMP_WORDS=("$HEED" "$@") COMP_CWORD=$#
compopt() { echo "compopt $*"; }
_heed
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\n' "${COMPREPLY[@]}"
BASH
    completes() { # completes EXPECTED WORD...: the last word is being typed
        expected=$1
        shift
        found=$(bash complete.bash "$@" 2>&1 | tr '\n' ' ')
        if [ "$found" = "$expected" ]; then pass; else fail "bash: $*: found $found, expected $expected"; fi
    }
    holds bash -n completion.bash
    completes "compopt +o default train translate " tr
    completes "compopt +o default gpt " train g
    completes "compopt +o default pre post " train gpt --norm ""
    completes "compopt +o default post " train gpt --norm = po
    completes "compopt +o default pre post " train gpt --norm =
    completes "--layer --layers " attend run --layer
    completes "" attend ru
    completes "" train gpt ""
    completes "compopt +o default " train gpt --lr ""
fi
run completion zsh
says "#compdef heed"
if command -v zsh >/dev/null 2>&1; then
    cp out _heed
    holds zsh -n _heed
fi

# A man page of the program, and one of each command.
ok help --man
says '.TH "HEED" 1'
says '.BR heed\-tokenizer\-train (1)'
says '.SH EXIT STATUS'
run help --man train
says 'heed train'
says '\fB\-\-norm\fR \fIpre|post\fR'
says '(vit'
hides 'recorded in config'
run help --man nonsense
refuses 2 "unknown command nonsense"
if command -v mandoc >/dev/null 2>&1; then
    while read -r name; do
        # shellcheck disable=SC2086
        "$HEED" help --man $name >page.1
        COMMAND="help --man $name"
        # The version has no date yet.
        mandoc -Tlint -W warning page.1 2>&1 | grep -v 'missing date' >out
        silent
    done <commands
fi
