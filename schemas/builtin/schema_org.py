"""Which properties of schema.org fill which fields of the built-in schemas: the one place where this is written.

Pages carry such data as JSON-LD or microdata. A path such as `offers.price` is followed through nested objects, and
through the first of a list; the first path that leads to a value wins. Fields that are not named here have no
counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SchemaOrg:
    """`types` are the schema.org types that a built-in schema stands for, `paths` lead from field to properties.

    A field of a nested list is written `lines.description`; its paths start at an element of that list.
    """

    types: tuple[str, ...]
    paths: Mapping[str, tuple[str, ...]]


_OFFER = "offers.price", "offers.lowPrice", "offers.priceSpecification.price"
_OFFER_CURRENCY = "offers.priceCurrency", "offers.priceSpecification.priceCurrency"
_IMAGE = "image.url", "image.contentUrl", "image"
_AUTHOR = "author.name", "author", "creator.name", "creator"
_PUBLISHER = "publisher.name", "publisher"
_SALARY = "baseSalary.value"

SCHEMA_ORG: Mapping[str, SchemaOrg] = MappingProxyType(
    {
        "Invoice": SchemaOrg(
            ("Invoice",),
            {
                "invoice_number": ("confirmationNumber", "identifier", "accountId"),
                "issue_date": ("dateCreated", "datePublished"),
                "due_date": ("paymentDueDate", "paymentDue"),
                "seller_name": ("provider.name", "broker.name", "provider"),
                "buyer_name": ("customer.name", "customer"),
                "lines": ("referencesOrder.orderedItem", "referencesOrder"),
                "lines.description": ("orderedItem.name", "name", "description"),
                "lines.quantity": ("orderQuantity",),
                "lines.unit_price": ("price", "orderedItem.offers.price"),
                "total": ("totalPaymentDue.price", "totalPaymentDue.value", "totalPaymentDue"),
                "currency": ("totalPaymentDue.priceCurrency", "totalPaymentDue.currency"),
            },
        ),
        "Receipt": SchemaOrg(
            ("Order",),
            {
                "seller_name": ("seller.name", "merchant.name", "seller"),
                "seller_address": ("seller.address.streetAddress", "seller.address"),
                "receipt_number": ("orderNumber", "confirmationNumber"),
                "purchase_date": ("orderDate",),
                "items": ("acceptedOffer", "orderedItem"),
                "items.description": ("itemOffered.name", "orderedItem.name", "name"),
                "items.quantity": ("eligibleQuantity.value", "orderQuantity"),
                "items.total": ("price",),
                "total": ("price", "partOfInvoice.totalPaymentDue.price"),
                "currency": ("priceCurrency",),
                "payment_method": ("paymentMethod.name", "paymentMethod"),
            },
        ),
        "Product": SchemaOrg(
            ("Product", "IndividualProduct", "ProductModel", "Vehicle", "Car"),
            {
                "name": ("name",),
                "brand": ("brand.name", "brand", "manufacturer.name", "manufacturer"),
                "sku": ("sku", "mpn", "productID", "offers.sku"),
                "price": _OFFER,
                "price_currency": _OFFER_CURRENCY,
                "availability": ("offers.availability",),
                "rating_value": ("aggregateRating.ratingValue",),
                "review_count": ("aggregateRating.reviewCount", "aggregateRating.ratingCount"),
                "description": ("description",),
                "image": _IMAGE,
            },
        ),
        "Recipe": SchemaOrg(
            ("Recipe",),
            {
                "name": ("name",),
                "author": _AUTHOR,
                "description": ("description",),
                "prep_time": ("prepTime",),
                "cook_time": ("cookTime",),
                "total_time": ("totalTime",),
                "recipe_yield": ("recipeYield", "yield"),
                "recipe_ingredient": ("recipeIngredient", "ingredients"),
                "recipe_instructions": (
                    "recipeInstructions.itemListElement.text",
                    "recipeInstructions.text",
                    "recipeInstructions",
                ),
                "recipe_category": ("recipeCategory",),
                "recipe_cuisine": ("recipeCuisine",),
                "calories": ("nutrition.calories",),
            },
        ),
        "JobPosting": SchemaOrg(
            ("JobPosting",),
            {
                "title": ("title", "name"),
                "hiring_organization": ("hiringOrganization.name", "hiringOrganization"),
                "job_location": ("jobLocation.address.addressLocality", "jobLocation.name", "jobLocation.address"),
                "employment_type": ("employmentType",),
                "date_posted": ("datePosted",),
                "valid_through": ("validThrough",),
                "salary_min": (f"{_SALARY}.minValue", f"{_SALARY}.value", _SALARY),
                "salary_max": (f"{_SALARY}.maxValue",),
                "salary_currency": ("baseSalary.currency", "salaryCurrency"),
                "salary_unit": (f"{_SALARY}.unitText", "baseSalary.unitText"),
                "responsibilities": ("responsibilities",),
                "qualifications": ("qualifications",),
                "benefits": ("jobBenefits", "benefits"),
            },
        ),
        "Article": SchemaOrg(
            (
                "Article",
                "NewsArticle",
                "BlogPosting",
                "TechArticle",
                "ScholarlyArticle",
                "Report",
                "SocialMediaPosting",
            ),
            {
                "headline": ("headline", "name"),
                "alternative_headline": ("alternativeHeadline",),
                "author": _AUTHOR,
                "date_published": ("datePublished",),
                "date_modified": ("dateModified",),
                "publisher": _PUBLISHER,
                "article_section": ("articleSection",),
                "keywords": ("keywords",),
                "description": ("description",),
                "image": _IMAGE,
            },
        ),
        "Event": SchemaOrg(
            (
                *(
                    "Event",
                    "MusicEvent",
                    "BusinessEvent",
                    "ComedyEvent",
                    "CourseInstance",
                    "DanceEvent",
                    "EducationEvent",
                ),
                *("ExhibitionEvent", "Festival", "FoodEvent", "LiteraryEvent", "SaleEvent", "ScreeningEvent"),
                *("SocialEvent", "SportsEvent", "TheaterEvent", "VisualArtsEvent"),
            ),
            {
                "name": ("name",),
                "start_date": ("startDate",),
                "start_time": ("startDate",),
                "end_date": ("endDate",),
                "end_time": ("endDate",),
                "location_name": ("location.name", "location"),
                "location_address": ("location.address.streetAddress", "location.address"),
                "organizer": ("organizer.name", "organizer"),
                "performers": ("performer.name", "performer"),
                "price": _OFFER,
                "price_currency": _OFFER_CURRENCY,
                "event_status": ("eventStatus",),
                "description": ("description",),
                "url": ("offers.url", "url"),
            },
        ),
        "RealEstateListing": SchemaOrg(
            ("RealEstateListing", "Accommodation", "Apartment", "House", "SingleFamilyResidence", "Residence"),
            {
                "name": ("name",),
                "address": ("address.streetAddress", "about.address.streetAddress", "address"),
                "price": _OFFER,
                "price_currency": _OFFER_CURRENCY,
                "property_type": ("accommodationCategory", "about.accommodationCategory"),
                "number_of_rooms": ("numberOfRooms", "about.numberOfRooms"),
                "number_of_bedrooms": ("numberOfBedrooms", "about.numberOfBedrooms"),
                "number_of_bathrooms": ("numberOfBathroomsTotal", "about.numberOfBathroomsTotal"),
                "floor_size": ("floorSize.value", "about.floorSize.value"),
                "floor_size_unit": ("floorSize.unitCode", "floorSize.unitText", "about.floorSize.unitCode"),
                "date_posted": ("datePosted",),
                "amenities": ("amenityFeature.name", "about.amenityFeature.name"),
                "description": ("description",),
            },
        ),
        "Book": SchemaOrg(
            ("Book",),
            {
                "name": ("name",),
                "alternative_headline": ("alternativeHeadline",),
                "author": _AUTHOR,
                "isbn": ("isbn", "workExample.isbn"),
                "publisher": _PUBLISHER,
                "date_published": ("datePublished", "workExample.datePublished"),
                "number_of_pages": ("numberOfPages", "workExample.numberOfPages"),
                "book_format": ("bookFormat", "workExample.bookFormat"),
                "in_language": ("inLanguage.name", "inLanguage", "workExample.inLanguage"),
                "price": _OFFER,
                "price_currency": _OFFER_CURRENCY,
                "description": ("description",),
            },
        ),
        "Contact": SchemaOrg(
            ("Person", "Organization", "Corporation", "LocalBusiness", "ContactPoint", "Store", "Restaurant"),
            {
                "name": ("name", "legalName"),
                "job_title": ("jobTitle",),
                "works_for": ("worksFor.name", "worksFor", "affiliation.name"),
                "email": ("email", "contactPoint.email"),
                "telephone": ("telephone", "contactPoint.telephone"),
                "fax_number": ("faxNumber", "contactPoint.faxNumber"),
                "street_address": ("address.streetAddress",),
                "postal_code": ("address.postalCode",),
                "address_locality": ("address.addressLocality",),
                "address_country": ("address.addressCountry.name", "address.addressCountry"),
                "opening_hours": ("openingHours",),
                "url": ("url",),
            },
        ),
    }
)
"""Built-in schema -> its counterpart."""
