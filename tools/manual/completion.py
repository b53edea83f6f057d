"""Completions for bash, zsh and fish, out of the program's own tables of options."""
import re


def choices(option):
    """The words that a value may be, if it is one of some."""
    value = option["value"] or ""
    return value.split("|") if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", value) else []


def takes_file(option):
    return (option["value"] or "") in ("FILE", "PROGRAM", "NAME=PROGRAM", "NAME=DSN-FILE")


def actions(about):
    """What a command may be told to do, as in schema install|check|print."""
    words = re.findall(r"(?<![\w-])[a-z]+(?![\w-])", re.sub(r"--\S+( [A-Z=]+)?", "", about["arguments"] or ""))
    return sorted(set(words))


def bash_values(abouts):
    """What is offered behind an option that takes a value."""
    options = [option for about in abouts for option in about["options"] if option["value"]]
    chosen = {option["name"]: choices(option) for option in options if choices(option)}
    files = sorted({option["name"] for option in options if takes_file(option)})
    taking = sorted({option["name"] for option in options} - set(files) - set(chosen))
    lines = [f"    {'|'.join('--' + name for name in files)}) COMPREPLY=($(compgen -f -- \"$current\")); return ;;"] if files else []
    lines += [f"    --{name}) COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$current\")); return ;;" for name, words in sorted(chosen.items())]
    return "\n".join([*lines, f"    {'|'.join('--' + name for name in taking)}) return ;;"])


def bash_function(program, first, abouts, choose):
    """first: what is done for the first word; choose: sets options and words."""
    name = "_" + program.replace("-", "_")
    return f"""# bash completion for {program}. Written by tools/manual out of the program's options.
{name}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options words
  COMPREPLY=()
{first}  if [ "$previous" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  if [ "$current" = = ]; then
    current=
  fi
  case $previous in
{bash_values(abouts)}
  esac
{choose}
  COMPREPLY=($(compgen -W "$options $words" -- "$current"))
}}
complete -o bashdefault -o default -F {name} {program}
"""


def bash_words(about):
    return f"options='{' '.join('--' + option['name'] for option in about['options'])}' words='{' '.join(actions(about))}'"


def bash(commands, about):
    cases = "\n".join(f"    {name}) {bash_words(text)} ;;" for name, text in about.items())
    names = " ".join(command["name"] for command in commands)
    first = f"""  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '{names} --help --version' -- "$current"))
    return
  fi
"""
    choose = f"""  case ${{COMP_WORDS[1]}} in
{cases}
    help) options= words='{names}' ;;
    *) return ;;
  esac"""
    return bash_function("taskpool", first, about.values(), choose)


def bash_program(program, about):
    """Of a program without commands."""
    return bash_function(program, "", [about], "  " + bash_words(about))


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


def zsh_arguments(about):
    words = actions(about)
    specs = [zsh_option(option) for option in about["options"]] + ([quoted(f"1:action:({' '.join(words)})")] if words else [])
    return "_arguments -s " + " \\\n        ".join([*specs, quoted("*::file:_files")])


def zsh(commands, about):
    lines = ["#compdef taskpool", "# zsh completion for taskpool. Written by tools/manual out of the program's options.", "_taskpool() {",
             "  local -a commands", "  commands=("]
    lines += [f"    {quoted(command['name'] + ':' + command['text'].replace(':', chr(92) + ':'))}" for command in commands]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
              "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]
    for name, text in about.items():
        lines += [f"    {name})", "      " + zsh_arguments(text), "      ;;"]
    return "\n".join([*lines, "    help) _describe command commands ;;", "  esac", "}", '_taskpool "$@"', ""])


def zsh_program(program, about):
    return f"#compdef {program}\n# zsh completion for {program}. Written by tools/manual out of the program's options.\n{zsh_arguments(about)}\n"


def fish(commands, about):
    names = " ".join(command["name"] for command in commands)
    lines = ["# fish completion for taskpool. Written by tools/manual out of the program's options.",
             f"set -l commands {names}", "complete -c taskpool -f"]
    for command in commands:
        lines.append(f"complete -c taskpool -n \"not __fish_seen_subcommand_from $commands\" -a {command['name']} -d {quoted(command['text'])}")
    for name, text in about.items():
        lines += fish_options("taskpool", f'-n "__fish_seen_subcommand_from {name}"', text)
    return "\n".join(lines) + "\n"


def fish_options(program, when, about):
    begin = f"complete -c {program} {when}".rstrip()
    if actions(about):
        yield f"{begin} -a {quoted(' '.join(actions(about)))}"
    for option in about["options"]:
        letter = f" -s {option['letter']}" if option["letter"] else ""
        value = f" -x -a {quoted(' '.join(choices(option)))}" if choices(option) else \
            " -r -F" if takes_file(option) else " -x" if option["value"] else ""
        text = "'" + option["text"].replace("\\", "\\\\").replace("'", "\\'") + "'"
        yield f"{begin} -l {option['name']}{letter}{value} -d {text}"


def fish_program(program, about):
    lines = [f"# fish completion for {program}. Written by tools/manual out of the program's options.", f"complete -c {program} -f"]
    return "\n".join([*lines, *fish_options(program, "", about)]) + "\n"
