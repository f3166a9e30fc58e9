# fish completion for gantry: gantry completion fish > ~/.config/fish/completions/gantry.fish

function __gantry_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in (gantry __complete -- $typed[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':*'
            case '*'
                echo $line
        end
    end
end

complete -c gantry -f -a '(__gantry_complete)'
