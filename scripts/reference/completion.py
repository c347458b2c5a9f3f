"""Completion: what bash, zsh and fish load, each in the place where it looks below `share`."""

from typer.completion import get_completion_script

PLACES = {
    "bash": "bash-completion/completions/bakeoff",
    "zsh": "zsh/site-functions/_bakeoff",
    "fish": "fish/vendor_completions.d/bakeoff.fish",
}


def files() -> dict[str, str]:
    """Name to text."""
    return {place: _script(shell) for shell, place in PLACES.items()}


def _script(shell: str) -> str:
    script = get_completion_script(prog_name="bakeoff", complete_var="_BAKEOFF_COMPLETE", shell=shell)
    if shell == "zsh":
        # A file of `fpath` is the body of the function: the first time it is called it has to complete as well.
        script += '\n_bakeoff_completion "$@"'
    return script + "\n"
