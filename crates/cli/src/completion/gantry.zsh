#compdef gantry
# zsh completion for gantry: gantry completion zsh > "${fpath[1]}/_gantry"

_gantry() {
    local line word help space=' '
    local -a described
    for line in "${(@f)$(_call_program gantry gantry __complete -- "${(@q)${(@Q)words[2,CURRENT]}}" 2>/dev/null)}"; do
        case "$line" in
            '') ;;
            :files) _files; return ;;
            :nospace) space='' ;;
            *)
                word="${line%%$'\t'*}"
                help=''
                [[ $line == *$'\t'* ]] && help=":${line#*$'\t'}"
                described+=("${word//:/\\:}$help")
                ;;
        esac
    done
    _describe -V gantry described -S "$space"
}

if [[ $funcstack[1] == _gantry ]]; then
    _gantry "$@"
else
    compdef _gantry gantry
fi
