// The attention explorer: where every layer and head attends from any pixel.
//
// The page holds compressed packs as base64 (see src/reattn/explorer/packing.py for
// their forms); a pack is unfolded when its variant is chosen. All numbers shown are
// computed here from the weights that are shown.

const IDS = { id: "attention-explorer", index: "explorer-index" };
const QUERY_COLOUR = "#d55e00";
const TOKEN_FAULT = 1 / 510 + 2 ** -12; // half a level of 255, and half precision
const SETTLED = 250; // milliseconds without a change, before a change is told aloud

// The figures' colours: viridis in 32 steps, and RdBu reversed in 33.
const SEQUENTIAL = colours(
  "440154460c5f47186a482273462d7c4437814141863d4a8939548b355c8c31648d2e6c8e2a758e277c8e24" +
    "848d228b8d1f948b1e9b891fa38624aa822eb27c39b97647c06e57c6656bcd597ed24e92d741a7db33bf" +
    "df24d4e11ae9e419fde724",
);
const DIVERGING = colours(
  "0530610d407816518f1f62a72971b1347fb83e8dc0519cc86aacd083bbd899c9e0add3e5c1ddebd3e6f0df" +
    "ebf2ebf1f4f7f7f7f8eee8fae5d9fcdccafacdb5f7bca0f5ab8aee9878e58267db6c56d15748c6403ebb" +
    "2a33ad162a950f267e072267001f",
);

function colours(digits) {
  return digits.match(/../g).map((pair) => parseInt(pair, 16));
}
