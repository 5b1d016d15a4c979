"""Products of attention in the order that costs least.

Every head is as wide as the map (its dimension is D, not D / heads), so the weight
matrices of a head can be multiplied with one another before they meet the features.
All heads then read the same features as keys and as values, and nothing has to be
copied for a head or transposed for a product.

Shapes: B images, n positions, H heads, D features.
"""

from torch import Tensor

from reattn.models.products import batched_product

# Two products over rows and columns are slower than one over all positions, until
# they spare this factor of the operations.
WORTHWHILE_SAVING = 8


def fold_keys_into_queries(query: Tensor, key: Tensor, heads: int) -> Tensor:
    """The weight that maps features to queries of the other features themselves.

    (Q x) . (K y) = (K^T Q x) . y.

    Args:
        query: Weight of the query map, (H * D, D).
        key: Weight of the key map, (H * D, D).
        heads: H.

    Returns:
        (H * D, D), to use with torch.nn.functional.linear.
    """
    width = query.shape[1]
    key, query = key.view(heads, -1, width), query.view(heads, -1, width)
    folded = batched_product(key.transpose(1, 2), query.transpose(1, 2))
    return folded.reshape(heads * width, width)


def fold_values_into_output(value: Tensor, output: Tensor, heads: int) -> Tensor:
    """The output weight that reads contexts of the features themselves.

    sum_h O_h (V_h x) = sum_h (O_h V_h) x.

    Args:
        value: Weight of the value map, (H * D, D).
        output: Weight of the output map, (D, H * D).
        heads: H.

    Returns:
        (D, H * D).
    """
    width = value.shape[1]
    value = value.view(heads, -1, width)
    output = output.view(output.shape[0], heads, -1).transpose(0, 1)
    folded = batched_product(output, value.transpose(1, 2))
    return folded.transpose(0, 1).reshape(-1, heads * width)


def gather_contexts(probabilities: Tensor, features: Tensor) -> Tensor:
    """What each head of each query gathers from the features.

    Args:
        probabilities: (B, n * H, n) or, for all images, (n * H, n): query, head; key.
        features: (B, n, D).

    Returns:
        (B, n, H * D).
    """
    contexts = batched_product(probabilities, features.transpose(1, 2))
    return contexts.view(*features.shape[:2], -1)


def gather_separable_contexts(
    rows: Tensor, columns: Tensor, features: Tensor
) -> Tensor:
    """The same where probabilities are products of one over rows, one over columns.

    Args:
        rows: (H, h, h): query row, key row.
        columns: (H, w, w): query column, key column.
        features: (B, h * w, D).

    Returns:
        (B, h * w, H * D).
    """
    batch, positions, width = features.shape
    heads, height, _ = rows.shape
    grid_width = columns.shape[-1]
    by_row = rows.transpose(0, 1).reshape(1, height * heads, height)
    gathered = by_row.expand(batch, -1, -1) @ features.view(batch, height, -1)
    gathered = gathered.view(batch, height, heads, grid_width, width)
    return (columns @ gathered).transpose(2, 3).reshape(batch, positions, heads * width)
