"""Makes what tells users of the commands, the settings, the run file and the JSON out of the code that holds them.

python -m scripts.reference              writes docs/reference/*.md (`make docs`)
python -m scripts.reference --share DIR  writes man pages and completion for three shells below DIR
"""
