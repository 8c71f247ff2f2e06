"""How to cook something."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Byline, Duration, PageNumber, PageTitle, Verbatim, VerbatimItem, VerbatimLine


class Recipe(BaseModel):
    """A recipe."""

    name: PageTitle = Field(description="Name of the dish, without the site's name")
    author: Byline | None = Field(default=None, description="Who wrote the recipe")
    description: VerbatimLine | None = Field(default=None, description="The sentence that introduces the dish")
    prep_time: Duration | None = Field(default=None, description="Time to prepare, such as PT15M for 15 minutes")
    cook_time: Duration | None = Field(default=None, description="Time to cook, such as PT1H30M for 1 h 30 min")
    total_time: Duration | None = Field(default=None, description="Total time, if the page states it")
    recipe_yield: Verbatim | None = Field(default=None, description="How much it makes or whom it serves, as written")
    recipe_ingredient: list[VerbatimItem] = Field(description="Every ingredient of every part, with its quantity")
    recipe_instructions: list[VerbatimItem] = Field(description="Every step of the preparation, whole and in order")
    recipe_category: Verbatim | None = Field(default=None, description="Kind of dish, such as Dessert")
    recipe_cuisine: Verbatim | None = Field(default=None, description="Cuisine, such as Italian")
    calories: PageNumber | None = Field(default=None, description="Calories per serving")
