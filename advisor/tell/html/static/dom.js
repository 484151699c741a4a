// Elements. Whatever comes from a file enters the document as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

const filled = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
};
const make = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) => filled(document.createElementNS(SVG, name), attributes, children);

const button = (label, attributes, onclick) => {
  const node = make("button", { type: "button", ...attributes }, label);
  node.onclick = onclick;
  return node;
};
const figure = (number) => (typeof number === "number" ? number.toLocaleString("en") : number);
const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
