"""`kcli completion SHELL`: the scripts of completions/."""

from __future__ import annotations

import sys

from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
BASH = r"""# bash completion of kcli: eval "$(kcli completion bash)" in ~/.bashrc, or this file for bash-completion
_kcli() {
    local program="${1/#\~\//$HOME/}" line directive=
    type -- "$program" >/dev/null 2>&1 || program=kcli
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ -z ${directive} ]]; then
            directive=":$line"
        else
            COMPREPLY[${#COMPREPLY[@]}]=$line
        fi
    done < <("$program" __complete bash "${COMP_LINE:0:COMP_POINT}" "${COMP_WORDS[COMP_CWORD]}" 2>/dev/null </dev/null)
    [[ $directive == :files ]] && return 0 # readline's own file names
    if type compopt >/dev/null 2>&1; then # bash 4 and newer
        compopt +o default
        [[ $directive == :nospace ]] && compopt -o nospace
    fi
    return 0
}
complete -o default -F _kcli kcli kcli-kafka
"""

ZSH = r"""#compdef kcli kcli-kafka
# zsh completion of kcli: eval "$(kcli completion zsh)" in ~/.zshrc, or this file as _kcli in a folder of $fpath
_kcli() {
    local program=${(Q)words[1]} directive line value
    local -a typed lines offers options
    [[ $program == '~/'* ]] && program=$HOME/${program#'~/'}
    whence -- $program >/dev/null || program=kcli
    typed=("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}")
    lines=("${(@f)$("$program" __complete zsh "${typed[@]}" 2>/dev/null </dev/null)}")
    directive=$lines[1]
    if [[ $directive == files ]]; then
        _files
        return
    fi
    for line in "${(@)lines[2,-1]}"; do
        value=${${line%%$'\t'*}//:/\\:}
        [[ $line == *$'\t'?* ]] && value+=:${line#*$'\t'}
        [[ -n $value ]] && offers+=("$value")
    done
    [[ $directive == nospace ]] && options=(-S '')
    (( $#offers )) && _describe -t kcli 'kcli' offers "${options[@]}"
}
if [[ $funcstack[1] == _kcli ]]; then
    _kcli "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef _kcli kcli kcli-kafka
fi
"""

FISH = r"""# fish completion of kcli: kcli completion fish > ~/.config/fish/completions/kcli.fish
function __kcli_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    set -l program $typed[1]
    type -q -- "$program"; or set program kcli
    set -l lines ("$program" __complete fish $typed "$current" 2>/dev/null </dev/null)
    if test "$lines[1]" = files
        __fish_complete_path "$current"
    else if set -q lines[2]
        printf '%s\n' $lines[2..-1]
    end
end
complete -c kcli -f -a '(__kcli_complete)'
complete -c kcli-kafka -f -a '(__kcli_complete)'
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def script(shell: str) -> str:
    """The completion script of a shell. Raises UsageError for a shell we have none for."""
    if shell not in SCRIPTS:
        raise UsageError(f"no completion script for {shell}; there is one for {', '.join(SHELLS)}")
    return SCRIPTS[shell]


class CompletionOptions(Options):
    """The word is the shell."""


@command(
    "completion",
    words="bash|zsh|fish",
    examples="""
eval "$(kcli completion bash)"                        # in ~/.bashrc
eval "$(kcli completion zsh)"                         # in ~/.zshrc
kcli completion fish > ~/.config/fish/completions/kcli.fish""",
)
def completion(options: CompletionOptions) -> int:
    """Print the completion script of a shell: bash, zsh or fish.

    It completes commands, options, and names from the cluster that the command line, the environment or the profile
    selects. Names are cached for half a minute; if the cluster does not respond within 0.3 s, there are none.
    """
    if len(options.words) != 1:
        raise UsageError(f"kcli completion needs one shell: {', '.join(SHELLS)}")
    sys.stdout.write(script(options.words[0]))
    return 0


# The scripts that make bash, zsh and fish ask `kcli __complete` at a TAB; completions/ has the same as files.
#
# None of them evaluates what kcli answers or what was typed: words are passed as arguments, candidates are array
# elements.
