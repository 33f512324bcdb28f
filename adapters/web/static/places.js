// What holds in a place: saved, or taken up again from its row to be changed.

function yesOrNo(value) {
  return value ? value === "true" : null;
}

function listed(text, separator) {
  return text.split(separator).map((part) => part.trim()).filter(Boolean);
}

/** What the form says, as the policy of its place. */
export function policyOf(form, lastMoment) {
  const told = Object.fromEntries(new FormData(form));
  return {
    platform: told.platform,
    tenant: told.tenant.trim(),
    channel_id: told.channel_id.trim(),
    book_ids: listed(told.book_ids, /\s+/),
    modules: listed(told.modules, ","),
    auto_answer: yesOrNo(told.auto_answer),
    hint_only: yesOrNo(told.hint_only),
    tone: told.tone.trim() || null,
    released_at: lastMoment(told.released_at),
    hardware_tier: told.hardware_tier ? Number(told.hardware_tier) : null,
    proficiency_levels: listed(told.proficiency_levels.toUpperCase(), /[\s,]+/),
  };
}

/** Fills the form with what a place says now, so that one thing can be changed and the rest stays. */
export function takeUp(form, policy) {
  const written = {
    ...policy,
    book_ids: policy.book_ids.join(" "),
    modules: policy.modules.join(", "),
    released_at: policy.released_at?.slice(0, 10),
    proficiency_levels: policy.proficiency_levels.join(" "),
  };
  for (const [name, value] of Object.entries(written)) {
    form.elements[name].value = value ?? "";
  }
  form.scrollIntoView({ block: "nearest" });
  form.elements.book_ids.focus();
}
