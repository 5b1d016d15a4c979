-- Turns the report's own blocks and pictures into calls of template.typ.

local calls = { notice = true, absent = true, absences = true, theorem = true, pairs = true }

local function quoted(text)
  return '"' .. text:gsub('\\', '\\\\'):gsub('"', '\\"') .. '"'
end

local function wrapped(call, blocks)
  local inside = pandoc.Blocks(blocks)
  inside:insert(1, pandoc.RawBlock("typst", "#" .. call .. "["))
  inside:insert(pandoc.RawBlock("typst", "]"))
  return inside
end

-- Labels of models are long: their column gets its share before the numbers.
local function with_room_for_labels(tbl)
  local share = #tbl.colspecs > 8 and 0.22 or 0.27
  tbl.colspecs[1] = { tbl.colspecs[1][1], share }
  return tbl
end

-- What part of the width each column of a table of sentences gets.
local shares = {
  claims = { 0.32, 0.32, 0.16, 0.20 },
  ["other-claims"] = { 0.40, 0.25, 0.35 },
  evidence = { 0.20, 0.05, 0.08, 0.24, 0.43 },
  variants = { 0.28, 0.20, 0.52 },
  deviations = { 0.035, 0.065, 0.26, 0.16, 0.20, 0.28 },
}

local function with_shares(widths)
  return function(tbl)
    for column, share in ipairs(widths) do
      tbl.colspecs[column] = { tbl.colspecs[column][1], share }
    end
    return tbl
  end
end

-- citeproc's entries are blocks of one paragraph, which may hang.
local function hanging(div)
  div.content = wrapped("reference", div.content)
  return div
end

function Div(div)
  if div.classes:includes("csl-entry") then
    return hanging(div)
  end
  for name, widths in pairs(shares) do
    if div.classes:includes(name) then
      div = div:walk({ Table = with_shares(widths) })
    end
  end
  if div.classes:includes("models") then
    div = div:walk({ Table = with_room_for_labels })
  end
  if div.classes:includes("equation") then
    div.content = wrapped('numbered("' .. div.attributes.number .. '")', div.content)
    return div
  end
  if div.classes:includes("landscape") then
    -- A page cannot stand inside of a block, so it goes around.
    return wrapped("landscape", { div })
  end
  for _, class in ipairs(div.classes) do
    if calls[class] then
      div.content = wrapped(class, div.content)
      return div
    end
  end
  return div
end

local turned = false

-- Figures float within their chapter; in the appendix they stand where they are. A
-- chapter of wide tables has its pages turned.
function Header(header)
  if header.level > 1 then
    return nil
  end
  local before = "#place.flush()"
  if header.classes:includes("landscape") ~= turned then
    turned = not turned
    before = before .. "\n#set page(flipped: " .. tostring(turned) .. ")"
  end
  if header.classes:includes("appendix") then
    before = before .. "\n#show figure.where(kind: image): set figure(placement: none)"
  end
  return { pandoc.RawBlock("typst", before), header }
end

function Image(image)
  local alt = image.attributes.alt or pandoc.utils.stringify(image.caption)
  local call = "#picture(" .. quoted(image.src) .. ", alt: " .. quoted(alt) .. ")"
  return pandoc.RawInline("typst", call)
end

-- From the heading of the summary to the next one.
function Pandoc(document)
  local before, summary, after = pandoc.Blocks({}), pandoc.Blocks({}), pandoc.Blocks({})
  local place = before
  for _, block in ipairs(document.blocks) do
    if block.t == "Header" and block.level == 1 then
      place = block.identifier == "summary" and summary or after
    end
    place:insert(block)
  end
  document.blocks = before
  if #summary > 0 then
    document.blocks:extend(wrapped("abstract", summary))
  end
  document.blocks:extend(after)
  return document
end
