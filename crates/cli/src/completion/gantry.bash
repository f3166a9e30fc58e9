# bash completion for gantry: source <(gantry completion bash)

_gantry() {
    local line="${COMP_LINE:0:COMP_POINT}" gantry current candidate head=""
    local -a typed=()
    read -ra typed <<< "$line"
    [[ $line == *[[:space:]] ]] && typed+=("")
    # An alias cannot be run from here.
    gantry="${typed[0]}"
    [[ $(type -t -- "$gantry") == file ]] || gantry=gantry
    COMPREPLY=()
    while IFS= read -r candidate; do
        case "$candidate" in
            :files) compopt -o default 2>/dev/null ;;
            :nospace) compopt -o nospace 2>/dev/null ;;
            *) COMPREPLY+=("${candidate%%$'\t'*}") ;;
        esac
    done < <("$gantry" __complete -- "${typed[@]:1}" 2>/dev/null)
    # Readline breaks words at `:` and `=`, so candidates must not repeat the text before the last of them.
    current="${typed[${#typed[@]}-1]}"
    if [[ $COMP_WORDBREAKS == *:* && $current == *:* ]]; then
        head="${current%"${current##*:}"}"
    elif [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
        head="${current%"${current##*=}"}"
    fi
    [[ -z $head ]] || COMPREPLY=("${COMPREPLY[@]#"$head"}")
}

complete -F _gantry gantry
