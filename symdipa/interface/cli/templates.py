"""``new``: a command for each template, made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from symdipa.interface.cli.base import Target
from symdipa.interface.cli.options import number, option, with_automaton_output
from symdipa.model.errors import InvalidInput
from symdipa.model.spelling import no_such

if TYPE_CHECKING:
    from symdipa.files.templates import Parameter, Template


class Templates(click.Group):
    """The group of templates; they are loaded only when one of them, or their list, is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from symdipa.files.templates import TEMPLATES

        return list(TEMPLATES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from symdipa.files.templates import TEMPLATES

        return _command(TEMPLATES[cmd_name]) if cmd_name in TEMPLATES else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if not (args[0].startswith("-") or args[0] in known or ctx.resilient_parsing):
            raise click.UsageError(no_such("template", args[0], known))
        return super().resolve_command(ctx, args)


@click.group(
    cls=Templates,
    invoke_without_command=True,
    subcommand_metavar="TEMPLATE [OPTIONS]",
    epilog="Example: symdipa new svt --cutoff 3 --eps-split 1:2 -o svt.dipa",
)
@option("--list", "list_templates", is_flag=True, help="List the templates and leave.")
@click.pass_context
def new(ctx: click.Context, list_templates: bool) -> None:
    """Write a known mechanism as commented .dipa text, with the noise that makes a stated D come out.

    symdipa new TEMPLATE --help shows the parameters of a template. What symdipa weight will print is said on
    standard error.
    """
    if list_templates:
        from symdipa.files.templates import TEMPLATES

        for template in TEMPLATES.values():
            click.echo(f"{template.name:<15} {template.summary}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        raise click.UsageError("needs a TEMPLATE; symdipa new --list shows them")


def _command(template: Template) -> click.Command:
    """The command that writes a template."""

    def callback(output: Target, **values: Any) -> None:
        output.will_hold("dipa")
        try:
            written = template.new(values)
        except InvalidInput as error:
            problem = error.problems[0]
            raise _complaint(problem.rule, problem.message) from error
        output.write(written.text, f"the mechanism {template.name}")
        file = "FILE" if output.path is None else output.name
        command = f"symdipa weight{written.settings.weight_options} {file}"
        click.echo(f"{command} will print D = {written.weight} (optimal)", err=True)

    summary = f"{template.summary[0].upper()}{template.summary[1:]}."
    command = click.command(template.name, help=summary, short_help=summary)
    made: Callable[..., Any] = with_automaton_output(callback)
    for parameter in reversed(template.every_parameter):
        made = _option(parameter)(made)
    return command(made)


def _complaint(parameter: str, message: str) -> click.UsageError:
    context = click.get_current_context()
    if not parameter:
        return click.UsageError(message, context)
    return click.BadParameter(message, context, param_hint=f"'{_flag(parameter)}'")


def _flag(parameter: str) -> str:
    return "--" + parameter.replace("_", "-")


def _option(parameter: Parameter) -> Callable[[Any], Any]:
    from symdipa.files.templates import Kind

    kind, default = parameter.kind, parameter.default
    settings: dict[str, Any] = {"help": parameter.help}
    if kind is Kind.FLAG:
        return option(_flag(parameter.name), parameter.name, is_flag=True, help=parameter.help)
    if kind is Kind.CHOICE:
        settings |= {"type": click.Choice(parameter.choices), "default": default}
    elif kind is Kind.COUNT:
        settings |= {"type": int, "metavar": "N", "default": default}
    elif kind is Kind.SHARES:
        settings |= {"metavar": ":".join("ABC"[: len(default)]), "default": ":".join(map(str, default))}
        settings["callback"] = _shares
    elif kind is Kind.PAIRS:
        settings |= {"metavar": "LO,HI", "multiple": True, "default": [",".join(map(str, default[0]))]}
        settings["callback"] = _pairs
    elif kind is Kind.DIFFER:
        settings |= {"metavar": "WHICH", "default": str(default)}
    else:
        settings |= {"metavar": "Q", "default": str(default), "callback": _number}
    return option(_flag(parameter.name), parameter.name, **settings)


def _number(ctx: click.Context, param: click.Parameter, value: str) -> Fraction:
    return number(value)


def _shares(ctx: click.Context, param: click.Parameter, value: str) -> tuple[Fraction, ...]:
    return tuple(map(number, value.split(":")))


def _pairs(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[tuple[Fraction, ...], ...]:
    pairs = tuple(tuple(map(number, text.split(","))) for text in value)
    for text, pair in zip(value, pairs, strict=True):
        if len(pair) != 2:
            raise click.BadParameter(f"{text!r} is not a pair like 0,1")
    return pairs
