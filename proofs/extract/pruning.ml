(* Facts are no part of what is claimed: those that do not follow may be left out.  Not trusted: what is left is checked. *)

open Checker

let hints (a : Automata.t) = { a.hints with why = if a.plain then Finder.direct_sums ~equal:false else Finder.sums }

(* A base with the facts that follow where single values have a probability, strict ones also as they are without that. *)
let pruned_graph grade (a : automaton) v (g : graph) =
  let both f = if f.strict then [ f; { f with strict = false } ] else [ f ] in
  let nodes = Array.of_list (List.map (fun b -> { b with b_facts = List.concat_map both b.b_facts; b_distinct = [] }) g.b_nodes) in
  let rec go edges =
    let changed = Hashtbl.create 31 in
    List.iter (fun ((s, (i, _)), t) ->
      let step = v.tr_of i and b = nodes.(s) in
      let comparisons = known grade v b step in
      if not (impossible v grade.whole comparisons) then begin
        let left = List.filter (fact_follows grade v step comparisons) nodes.(t).b_facts in
        if List.compare_lengths left nodes.(t).b_facts < 0 then begin
          nodes.(t) <- { (nodes.(t)) with b_facts = left };
          Hashtbl.replace changed t ()
        end
      end) edges;
    if Hashtbl.length changed > 0 then go (List.filter (fun ((s, _), _) -> Hashtbl.mem changed s) g.b_edges) in
  if List.for_all (fun ((s, (i, _)), t) ->
      let n = Array.length nodes in s < n && t < n && i < List.length a.transitions) g.b_edges then go g.b_edges;
  { g with b_nodes = Array.to_list nodes }

let pruned grade (a : Automata.t) (c : cert) =
  let h = hints a in
  let v = by_trees (grow a.automaton h) in
  let b = lifted a.automaton v c.c_ground (by_gtrees (ggrow c.c_ground)) in
  { c with c_hints = h; c_ground = pruned_graph grade a.automaton v c.c_ground;
    c_parts = List.map (pruned_graph grade b (by_trees (grow b (for_parts h)))) c.c_parts }
