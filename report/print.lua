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

function Div(div)
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
end

-- Figures float in the text; in the appendix they stand under their headings.
function Header(header)
  if header.classes:includes("appendix") then
    local fixed = "#show figure.where(kind: image): set figure(placement: none)"
    return { pandoc.RawBlock("typst", fixed), header }
  end
end

function Image(image)
  local alt = image.attributes.alt or ""
  local call = "#picture(" .. quoted(image.src) .. ", alt: " .. quoted(alt) .. ")"
  return pandoc.RawInline("typst", call)
end
