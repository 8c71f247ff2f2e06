"""A text that somebody published."""

from __future__ import annotations

from pydantic import BaseModel, Field

from lookstruct.schemas.typed import Byline, PageDate, PageTitle, PageUrl, Verbatim, VerbatimLine


class Article(BaseModel):
    """A news article or blog post."""

    headline: PageTitle = Field(description="The headline, without the site's name")
    alternative_headline: VerbatimLine | None = Field(default=None, description="The line under the headline")
    author: list[Byline] = Field(description="Names of the people who wrote it")
    date_published: PageDate | None = Field(default=None, description="The day it was published")
    date_modified: PageDate | None = Field(default=None, description="The day it was last updated")
    publisher: Verbatim | None = Field(default=None, description="The newspaper, magazine or site")
    article_section: Verbatim | None = Field(default=None, description="Section, such as Politics or Sport")
    keywords: list[Verbatim] = Field(description="Tags or topics shown with the article")
    description: VerbatimLine | None = Field(default=None, description="The first paragraph")
    image: PageUrl | None = Field(default=None, description="Address of the main picture")
