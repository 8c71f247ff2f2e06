"""Everything that can be set, in groups; defaults, bounds, help and flags stand here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lookstruct.decoding.request import Options, Window
from lookstruct.extractors.options import FetchOptions
from lookstruct.pipeline.sinks.sink import SinkOptions
from lookstruct.schemas.flags import Flag, Group, Listed, split_list


def split_window(value: Any) -> Any:
    """W,N,G as three numbers; a list of another length is refused in these words."""
    parts = split_list(value)
    if isinstance(parts, Sequence) and len(parts) != 3:
        raise ValueError("three whole numbers W,N,G are expected")
    return parts


class ModelSettings(Group):
    """Which model, where, in what number format."""

    title: ClassVar[str] = "Model"

    name: Annotated[str, Flag("--model", "MODEL")] = Field(
        default="bundled", description="bundled, bundled:1.5b, a hub id, a folder, or a .gguf file."
    )
    device: Annotated[str, Flag("--device", "DEVICE")] = Field(default="auto", description="auto, cpu, cuda or mps.")
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16", "float64"],
        Flag("--dtype", "DTYPE"),
    ] = Field(default="auto", description="auto, float32, bfloat16 or float16; auto is bfloat16 on cuda, else float32.")
    profile: Annotated[str, Flag("--profile", "NAME")] = Field(
        default="auto",
        description="How the model is asked: general, schematron, nuextract, nuextract-1.5 or readerlm-v2; auto goes "
        "by its name.",
    )
    linear: Annotated[Literal["auto", "stock", "few-rows"], Flag("--linear", "MODE")] = Field(
        default="auto", description="Kernels of the linear layers: stock, few-rows, or auto by device and dtype."
    )
    attn_implementation: str | None = Field(
        default=None, description="eager, sdpa or flex_attention; None lets it choose."
    )
    trust_remote_code: bool = Field(default=False, description="Run Python code that comes with the model.")


class EngineSettings(Group):
    """Where the model runs: here, or on a server that speaks OpenAI's chat completions with structured outputs."""

    title: ClassVar[str] = "Engine"

    engine: Annotated[Literal["local", "openai"], Flag("--engine", "ENGINE")] = Field(
        default="local", description="local, or openai for any compatible server (vLLM, SGLang, llama.cpp, Ollama)."
    )
    base_url: Annotated[str | None, Flag("--base-url", "URL")] = Field(
        default=None, description="The server, such as http://127.0.0.1:8000/v1; its key is in LOOKSTRUCT_API_KEY."
    )
    requests: Annotated[int, Flag("--requests", "N")] = Field(
        default=8, ge=1, le=1024, description="How many pages are asked of the server at once."
    )
    context: int = Field(default=32768, ge=512, description="How many tokens the server's model takes, about.")
    timeout_s: float = Field(default=300.0, gt=0, description="For one answer of the server.")
    retries: int = Field(default=4, ge=0, description="Further attempts when the server is busy or away.")


class SchemaSettings(Group):
    """How the schema is taken."""

    title: ClassVar[str] = "Schema"
    lenient: Annotated[bool, Flag("--lenient")] = Field(
        default=False,
        description="Check after decoding what cannot be enforced while decoding, instead of refusing it.",
    )
    free: Annotated[bool, Flag("--free")] = Field(
        default=False, description="Let values be written freely that the schema would hold to the page."
    )


class PromptSettings(Group):
    """What the model is shown."""

    title: ClassVar[str] = "Prompt"

    max_page_tokens: int = Field(
        default=8192, ge=32, description="The most tokens of a page that the model is shown at once; more in parts."
    )
    max_chunks: int = Field(
        default=16, ge=1, description="The most parts in which a long page is read; beyond them the most relevant."
    )
    metadata: Annotated[Literal["trust", "draft", "ignore"], Flag("--metadata", "USE")] = Field(
        default="draft",
        description="The page's own JSON-LD and the like: trust shows it the model, draft drafts from it, or ignore.",
    )


class MemorySettings(Group):
    """Whether earlier pages of a site are remembered, to guess where the values of the next one stand."""

    title: ClassVar[str] = "Memory"

    use: Annotated[Literal["auto", "on", "off"], Flag("--memory", "USE")] = Field(
        default="auto",
        description="Remember records, to read a site's next page in fewer forwards, never otherwise: on, off, or auto "
        "(on in batches and jobs).",
    )
    path: Path | None = Field(default=None, description="Where; memory.db in the cache folder unless given.")
    most_records: int = Field(default=5000, ge=1, description="How many records are remembered; the oldest go first.")


class DecodeSettings(Group):
    """How to decode; `decoding.request.Options` says what each means."""

    title: ClassVar[str] = "Decoding"

    decoding: Annotated[Literal["auto", "lookahead", "autoregressive"], Flag("--decoding", "MODE")] = Field(
        default="auto", description="auto, lookahead or autoregressive: the record is the same, the time is not."
    )
    sources: Annotated[tuple[str, ...] | None, Listed, Flag("--sources", "A,B")] = Field(
        default=None, description="Draft sources to use; all unless given."
    )
    nodes: Annotated[int | None, Flag("--nodes", "N")] = Field(
        default=None, ge=0, description="Draft tokens per forward; chosen by measured costs unless given."
    )
    window: Annotated[tuple[int, int, int] | None, BeforeValidator(split_window), Flag("--window", "W,N,G")] = Field(
        default=None, description="Lookahead window: W columns, N-grams, G candidates."
    )
    max_new_tokens: Annotated[int, Flag("--max-new-tokens", "N")] = Field(
        default=2048, ge=1, description="The longest record, in tokens."
    )
    reserve: int = Field(default=64, ge=0, description="How many of these are kept for closing an unfinished record.")
    temperature: Annotated[float, Flag("--temperature", "T")] = Field(
        default=0.0, ge=0, description="0 takes the likeliest token; above 0 draws one."
    )
    top_k: int = Field(default=0, ge=0, description="Draw from the k likeliest tokens; 0 from all.")
    top_p: float = Field(
        default=1.0, gt=0, le=1, description="Draw from the likeliest tokens that hold this probability."
    )
    min_p: float = Field(
        default=0.0, ge=0, le=1, description="Leave out what is less likely than this share of the best."
    )
    repetition_penalty: float = Field(default=1.0, gt=0, description="Above 1 makes repetition less likely.")
    seed: Annotated[int, Flag("--seed", "N")] = Field(default=0, description="What the draws depend on.")
    verify: Annotated[bool, Flag("--verify")] = Field(
        default=False, description="Check afterwards, in one pass, that plain decoding would have written the same."
    )
    think: Annotated[int, Flag("--think", "N")] = Field(
        default=0, ge=0, description="Let a model that thinks do so first, for at most N tokens of --max-new-tokens."
    )
    draft_model: Annotated[str | None, Flag("--draft-model", "MODEL")] = Field(
        default=None, description="A small model of the same vocabulary for the source draft_model."
    )

    def options(self) -> Options:
        """The decoder's own form."""
        plain = self.model_dump(exclude={"decoding", "window", "verify", "draft_model"})
        return Options(mode=self.decoding, window=Window(*self.window) if self.window else None, **plain)


class SinkSettings(Group):
    """Where records go, and how they are kept there; see `pipeline.sinks`."""

    title: ClassVar[str] = "Output"

    to: Annotated[str, Flag("--to", "SINK")] = Field(
        default="-",
        description="-, a .json, .jsonl, .csv or .parquet file, sqlite:///file.db, or postgresql://host/name.",
    )
    evidence: Annotated[bool, Flag("--evidence")] = Field(
        default=False, description="Keep evidence and meta beside the data instead of the bare record."
    )
    key: Annotated[tuple[str, ...], Listed, Flag("--key", "A,B")] = Field(
        default=(), description="Fields that name a thing, such as url,sku: its record replaces the one that is there."
    )
    table: Annotated[str | None, Flag("--table", "NAME")] = Field(
        default=None, description="The table in a database; named after the schema unless given."
    )
    nested: Annotated[Literal["json", "tables"], Flag("--nested", "HOW")] = Field(
        default="json", description="Lists and evidence in a database: json in a column, or tables of their own."
    )

    def options(self) -> SinkOptions:
        """The sinks' own form."""
        return SinkOptions(**self.model_dump(include={"evidence", "key", "table", "nested"}))


class OutputSettings(SinkSettings):
    """Where one record goes, and what is written beside it."""

    stats: Annotated[Path | None, Flag("--stats", "FILE")] = Field(
        default=None, description="Write the decoder's statistics as JSON."
    )
    trace: Annotated[Path | None, Flag("--trace", "FILE.html")] = Field(
        default=None, description="Draw the decode: a row for each forward, a cell for each token."
    )


class LedgerSettings(Group):
    """Where runs are kept."""

    title: ClassVar[str] = "Ledger"

    ledger: Annotated[str | None, Flag("--ledger", "URL")] = Field(
        default=None,
        description="The database that runs are kept in, sqlite:///file.db or postgresql://host/name; a file in your "
        "folder for application state unless given.",
    )


class BatchSettings(LedgerSettings):
    """How many pages are read."""

    title: ClassVar[str] = "Batch"

    concurrency: Annotated[int, Flag("--concurrency", "N")] = Field(
        default=4, ge=1, le=256, description="How many pages are fetched at once."
    )
    report: Annotated[Path | None, Flag("--report", "FILE")] = Field(
        default=None, description="Write what became of the run as JSON."
    )
    devices: Annotated[tuple[str, ...], Listed, Flag("--devices", "A,B")] = Field(
        default=(), description="A model on each of these, such as cuda:0,cuda:1, or all GPUs; instead of --device."
    )
    ray: Annotated[str | None, Flag("--ray", "ADDRESS|local")] = Field(
        default=None, description="Fetch and read on Ray at this address, or on one that is started here; off: neither."
    )
    models: Annotated[int | None, Flag("--models", "N")] = Field(
        default=None, ge=1, le=1024, description="How many models Ray holds; one a GPU, or one a node, unless given."
    )


class JobsSettings(Group):
    """Where scheduled jobs are kept, and how many run at once."""

    title: ClassVar[str] = "Jobs"

    db: Annotated[str | None, Flag("--db", "URL")] = Field(
        default=None,
        description="The database of jobs, sqlite:///file.db or postgresql://host/name; a file in your folder for "
        "application state unless given.",
    )
    slots: Annotated[int, Flag("--slots", "N")] = Field(
        default=2, ge=1, le=64, description="How many jobs a worker runs at once; the model reads one page at a time."
    )


class Settings(BaseModel):
    """The whole tree."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fetch: FetchOptions = FetchOptions()
    schemas: SchemaSettings = SchemaSettings()
    model: ModelSettings = ModelSettings()
    engine: EngineSettings = EngineSettings()
    prompt: PromptSettings = PromptSettings()
    memory: MemorySettings = MemorySettings()
    decode: DecodeSettings = DecodeSettings()
    output: OutputSettings = OutputSettings()
    batch: BatchSettings = BatchSettings()
    jobs: JobsSettings = JobsSettings()

    def remembering(self) -> Self:
        """These settings for work on many pages, where memory and HTTP cache that are left to themselves are on."""
        memory = self.memory.model_copy(update={"use": "on" if self.memory.use == "auto" else self.memory.use})
        fetch = self.fetch.model_copy(update={"cache": "check" if self.fetch.cache == "auto" else self.fetch.cache})
        return self.model_copy(update={"memory": memory, "fetch": fetch})
