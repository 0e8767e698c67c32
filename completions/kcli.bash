# bash completion of kcli: eval "$(kcli completion bash)" in ~/.bashrc, or this file for bash-completion
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
