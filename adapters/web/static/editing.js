// A question becomes a box to write in, and a question again.

export function beginEdit(exchange, template) {
  if (exchange.querySelector(".editing")) {
    return;
  }
  const line = exchange.querySelector(".asked-line");
  const form = template.content.firstElementChild.cloneNode(true);
  const box = form.elements.message;
  // Several questions may be edited at once: each box has a label of its own.
  box.id = `edited-${exchange.dataset.message}`;
  form.querySelector("label").htmlFor = box.id;
  box.value = line.querySelector(".asked").textContent;
  line.hidden = true;
  line.after(form);
  box.focus();
}

export function endEdit(exchange, { focus = false } = {}) {
  exchange.querySelector(".editing")?.remove();
  const line = exchange.querySelector(".asked-line");
  line.hidden = false;
  if (focus) {
    line.querySelector("[data-act=edit]").focus();
  }
}
