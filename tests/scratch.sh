# Sourced: files of tests, which live for seconds, go into memory where a folder of it has 2 GB and runs programs.
scratch=
if [ -z "${TMPDIR:-}" ] && scratch=$(mktemp -d /dev/shm/heed-XXXXXX 2>/dev/null); then
    echo '#!/bin/sh' >"$scratch/program" && chmod +x "$scratch/program"
    if "$scratch/program" 2>/dev/null && [ "$(df -Pk "$scratch" | awk 'END {print $4}')" -gt 2000000 ]; then
        export TMPDIR="$scratch"
    else
        rm -rf "$scratch"
        scratch=
    fi
fi
