"""Completions for bash, zsh and fish, out of the program's own tables of options."""
import re


def choices(option):
    """The words that a value may be, if it is one of some."""
    value = option["value"] or ""
    return value.split("|") if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", value) else []


def takes_file(option):
    return (option["value"] or "") in ("FILE", "PROGRAM", "NAME=PROGRAM")


def actions(about):
    """What a command may be told to do, as in schema install|check|print."""
    words = re.findall(r"(?<![\w-])[a-z]+(?![\w-])", re.sub(r"--\S+( [A-Z=]+)?", "", about["arguments"] or ""))
    return sorted(set(words))


def bash(commands, about):
    cases = []
    for name, text in about.items():
        options = " ".join(f"--{option['name']}" for option in text["options"])
        cases.append(f"    {name}) options='{options}' words='{' '.join(actions(text))}' ;;")
    values = {}
    for text in about.values():
        for option in text["options"]:
            if choices(option):
                values[option["name"]] = choices(option)
    files = sorted({option["name"] for text in about.values() for option in text["options"] if takes_file(option)})
    taking = sorted({o["name"] for t in about.values() for o in t["options"] if o["value"]} - set(files) - set(values))
    value_cases = "\n".join(f"    --{name}) COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$current\")); return ;;"
                            for name, words in sorted(values.items()))
    names = " ".join(command["name"] for command in commands)
    return f"""# bash completion for taskpool. Written by tools/manual out of the program's options.
_taskpool() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options words
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{names} --help --version' -- "$current"))
    return
  fi
  if [ "$previous" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  if [ "$current" = = ]; then
    current=
  fi
  case $previous in
    {'|'.join('--' + name for name in files)}) COMPREPLY=($(compgen -f -- "$current")); return ;;
{value_cases}
    {'|'.join('--' + name for name in taking)}) return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{chr(10).join(cases)}
    help) options= words='{names}' ;;
    *) return ;;
  esac
  COMPREPLY=($(compgen -W "$options $words" -- "$current"))
}}
complete -o bashdefault -o default -F _taskpool taskpool
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(option):
    text = re.sub(r"([\[\]:\\])", r"\\\1", option["text"])
    spec = f"{'*' if option['many'] else ''}--{option['name']}{'=' if option['value'] else ''}[{text}]"
    if choices(option):
        spec += f":value:({' '.join(choices(option))})"
    elif option["value"]:
        spec += ":" + re.sub(r"[^\w ]", " ", option["value"]).strip().lower() + ":" + ("_files" if takes_file(option) else " ")
    return quoted(spec)


def zsh(commands, about):
    lines = ["#compdef taskpool", "# zsh completion for taskpool. Written by tools/manual out of the program's options.", "_taskpool() {",
             "  local -a commands", "  commands=("]
    lines += [f"    {quoted(command['name'] + ':' + command['text'].replace(':', chr(92) + ':'))}" for command in commands]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
              "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]
    for name, text in about.items():
        lines.append(f"    {name})")
        words = actions(text)
        specs = [zsh_option(option) for option in text["options"]] + ([quoted(f"1:action:({' '.join(words)})")] if words else [])
        lines.append("      _arguments -s " + " \\\n        ".join([*specs, quoted("*::file:_files")]))
        lines.append("      ;;")
    return "\n".join([*lines, "    help) _describe command commands ;;", "  esac", "}", '_taskpool "$@"', ""])


def fish(commands, about):
    names = " ".join(command["name"] for command in commands)
    lines = ["# fish completion for taskpool. Written by tools/manual out of the program's options.",
             f"set -l commands {names}", "complete -c taskpool -f"]
    for command in commands:
        lines.append(f"complete -c taskpool -n \"not __fish_seen_subcommand_from $commands\" -a {command['name']} -d {quoted(command['text'])}")
    for name, text in about.items():
        seen = f'-n "__fish_seen_subcommand_from {name}"'
        if actions(text):
            lines.append(f"complete -c taskpool {seen} -a {quoted(' '.join(actions(text)))}")
        for option in text["options"]:
            letter = f" -s {option['letter']}" if option["letter"] else ""
            value = f" -x -a {quoted(' '.join(choices(option)))}" if choices(option) else \
                " -r -F" if takes_file(option) else " -x" if option["value"] else ""
            fish_text = "'" + option["text"].replace("\\", "\\\\").replace("'", "\\'") + "'"
            lines.append(f"complete -c taskpool {seen} -l {option['name']}{letter}{value} -d {fish_text}")
    return "\n".join(lines) + "\n"
