// As much of a browser's document as the page uses; `texts` reads what it shows.
class Node {
  constructor(tag) { Object.assign(this, { tagName: tag.toUpperCase(), children: [], heard: {}, value: "", className: "", own: "" }); }
  set textContent(text) { this.own = String(text); this.children = []; }
  get textContent() { return this.own + this.children.map((child) => child.textContent).join(""); }
  append(...nodes) { this.children.push(...nodes); }
  replaceChildren(...nodes) { this.children = nodes; this.own = ""; }
  addEventListener(name, act) { this.heard[name] = act; }
  setAttribute(name, value) { this[name] = value; }
  focus() {}
}
const made = {};
const document = Object.assign(new Node("document"), {
  createElement: (tag) => new Node(tag),
  createElementNS: (space, tag) => new Node(tag),
  getElementById: (id) => made[id] = made[id] || new Node(id === "filter" || id === "at" ? "input" : "div"),
});
const timers = [];
globalThis.setTimeout = (act) => timers.push(act);
globalThis.clearTimeout = () => {};
const texts = (id) => made[id].children.map((row) => row.children.map((cell) => cell.textContent));
const key = (name) => document.heard.keydown({ key: name, target: document, preventDefault() {} });
