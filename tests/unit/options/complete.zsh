# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the words that zsh offers: zsh -f complete.zsh SCRIPT LINE
# Completion works only in an interactive shell, so this runs one on a pseudo-terminal.
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D
_memleak() { . $1 }; compdef _memleak memleak
compadd() { local -a words; builtin compadd -O words \"\$@\"; print -rl -- '<'\$^words'>' }
ask() { zle complete-word; print -r END '' }; zle -N ask; bindkey '^I' ask
print -r BEGIN ''"
zpty -r shell out '*BEGIN *'
zpty -w -n shell "$2"$'\t'
zpty -r shell out '*END *'
zpty -d shell
print -rl -- $(print -r -- "$out" | sed -n 's/.*<\([^>]*\)>.*/\1/p' | sort -u)
