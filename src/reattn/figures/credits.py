"""Who took the photographs that come with scikit-learn, as their licence asks.

Both are under CC BY 2.0 (creativecommons.org/licenses/by/2.0). Source:
scikit-learn, sklearn/datasets/images/README.txt. It gives one name for both but links
flower.jpg to the pages of another photographer, who is named here:
flickr.com/photos/danielbuechele/6061409035 and flickr.com/photos/vultilion/6056698931.
"""

PHOTOGRAPHERS = {"china.jpg": "danielbuechele", "flower.jpg": "vultilion"}


def credit(image: str) -> list[str]:
    """The attribution of an image as a sentence; none for images of others."""
    if image not in PHOTOGRAPHERS:
        return []
    return [f"Photograph: {PHOTOGRAPHERS[image]}, CC BY 2.0."]
