"""The frame of a page: one file that opens offline, goes by mail and may load nothing from anywhere."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

from ppagent.report.pictures.svg import style


def page(title: str, body: str, *, script: bool = True) -> str:
    """A whole page around `body`, which is markup. Its policy lets only this very style and script run, so that text
    which slipped through as markup could neither run nor fetch anything."""
    css = _read("html.css") + style()
    code = _read("html.js") if script else ""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(css)}'",
            f"script-src '{_hash(code)}'" if code else "script-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{css}</style></head>\n<body>\n{body}\n"
        f"{f'<script>{code}</script>' if code else ''}</body></html>\n"
    )


def _read(name: str) -> str:
    return files("ppagent.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
