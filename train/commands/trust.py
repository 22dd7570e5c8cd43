"""`memenvs trust PATH`: say once that a file may run what it says, or a model be used."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("path")
def trust(path: str) -> None:
    """Trust PATH from now on, as long as its content stays what it is.

    A model's zip file with pickles, a checkpoint, or a configuration that names commands or modules
    runs whatever its maker wrote. A model of texts, a folder or an .onnx file, is then found by
    descriptions of encoders. What you made on this machine is trusted already. Noted in the folder
    that MEMENVS_STATE names, by default your own state folder.
    """
    from memenvs.storage import trusted
    from memenvs.storage.reading import digest_of

    place = Path(path).absolute()
    if place.is_dir() or place.suffix == ".onnx":
        from memenvs.text.embedders.files import describe_path
        from memenvs.text.embedders.local import local_encoder

        local_encoder(str(place))  # refuses what is none
        digest = describe_path(str(place))["digest"]
    else:
        digest = digest_of(path)
        trusted.remember(digest)
    if trusted.remembered(digest) is None:
        raise ValueError(f"{trusted.state_folder()}: cannot be written; set {trusted.VARIABLE}")
    click.echo(f"{path} is trusted (SHA-256 {digest[:12]})")
