# fish completion of kcli: kcli completion fish > ~/.config/fish/completions/kcli.fish
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
