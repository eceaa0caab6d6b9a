-- Sibling sets merged level by level: what bench/calltree/calltree.py compares with.
-- $FILES: Parquet files of a run. It knows neither self times nor histograms nor sums.

CREATE TABLE span AS
    SELECT row_number() OVER () AS id, proc, span, coalesce(parent_proc, proc) AS up_proc,
        parent AS up, hash(layer, op) AS f, layer, op,
        CASE WHEN kind = 'call' THEN dur END AS dur,
        CASE WHEN flags & 32 = 0 THEN coalesce(bytes, 0) ELSE 0 END AS bytes, error IS NOT NULL AS e
    FROM read_parquet($FILES, hive_partitioning = false)
    WHERE kind IN ('call', 'unfinished') AND layer <> 'jvm';

CREATE TABLE edge AS
    SELECT below.id, above.id AS up
    FROM span AS below LEFT JOIN span AS above
        ON above.proc = below.up_proc AND above.span = below.up;

CREATE TABLE placed AS
    WITH RECURSIVE place(id, depth) AS (
        SELECT id, 0 FROM edge WHERE up IS NULL
        UNION ALL
        SELECT edge.id, depth + 1 FROM place JOIN edge ON edge.up = place.id)
    SELECT place.id, depth, up FROM place JOIN edge USING (id);

CREATE TABLE shape (id BIGINT, h UBIGINT);
CREATE TABLE node (id BIGINT, node UBIGINT, up_node UBIGINT);

-- for $LEVEL from the deepest to 0
INSERT INTO shape
    SELECT placed.id, hash(any_value(f), list_sort(list(DISTINCT below.h)))
    FROM placed JOIN span USING (id)
        LEFT JOIN (SELECT up, h FROM placed AS p JOIN shape USING (id) WHERE p.depth = $LEVEL + 1)
            AS below ON below.up = placed.id
    WHERE depth = $LEVEL GROUP BY placed.id;

-- for $LEVEL from 0 to the deepest
INSERT INTO node
    SELECT placed.id, hash(coalesce(above.node, 0), h), above.node
    FROM placed JOIN shape USING (id) LEFT JOIN node AS above ON above.id = placed.up
    WHERE depth = $LEVEL;

SELECT node, any_value(up_node) AS up_node, any_value(layer) AS layer, any_value(op) AS op,
    count(dur) AS calls, sum(e::INT) AS errors, sum(bytes)::BIGINT AS bytes,
    sum(dur)::BIGINT AS total, min(dur) AS min, max(dur) AS max
FROM node JOIN span USING (id) GROUP BY node;
