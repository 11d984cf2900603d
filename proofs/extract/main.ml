(* symdipa-checker AUTOMATON.json CERTIFICATE.json: the checker that Coq proved, applied to files.
   Prints a JSON object; proofs/README.md says what it means, and what is trusted.
   Exit status: 0 something is proved and nothing refused, 1 refused, 2 unusable, 3 nothing of it is proved to be checked. *)

open Checker
open Reading

let usage = "usage: symdipa-checker AUTOMATON.json CERTIFICATE.json"

let file name =
  try
    let c = open_in_bin name in
    Fun.protect ~finally:(fun () -> close_in c) (fun () -> really_input_string c (in_channel_length c))
  with Sys_error e -> prerr_endline e; exit 2

exception Another

let pair k v = Json.quoted k ^ ": " ^ v
let put fields = print_endline ("{" ^ String.concat ", " fields ^ "}")

(* The first part of the checker that says no, for the message; what counts is the whole. *)
let first parts = match List.find_opt (fun (_, ok) -> not (ok ())) parts with
  | Some (rule, _) -> rule
  | None -> "lift-potential, lift-read, part-sample or part-potential"

let of_graph grade a v c where (g, tells, own) =
  let w = by_gtrees (ggrow g) in [
  where ^ "base-initial, base-edge, base-differ, base-register, base-fact or base-complete", (fun () -> check_base grade a v c g w tells);
  where ^ "lift-node or lift-integer", (fun () -> check_shifts grade g own);
  where ^ "lift-cover", (fun () -> check_cover g w);
  where ^ "lift-edge, lift-read, lift-kept, lift-order or lift-sample",
    (fun () -> check_graph grade a v c g w tells own) ]
let model_rules = "model-noise, model-determinism, model-initialization or model-integer"

let of_model grade a v c = [ "adjacency", (fun () -> check_claim c); model_rules, (fun () -> check_model grade a v) ]

let broken grade a (c : cert) =
  let v = by_trees (grow a c.c_hints) and w = by_gtrees (ggrow c.c_ground) in
  let b = lifted a v c.c_ground w in
  let u = by_trees (grow b (for_parts c.c_hints)) in
  let layer = Array.of_list c.c_layer in
  let own k x = (if x < Array.length layer then layer.(x) else 0) = k in
  let part k g = of_graph grade b u c.c_claim (Printf.sprintf "parts[%d]: " k) (g, false, own (k + 1)) in
  first (of_model grade a v c.c_claim @ of_graph grade a v c.c_claim "" (c.c_ground, true, own 0)
    @ [ "lift-potential, part-potential, trunk-initial or private-bound", (fun () -> check_bound c w (List.map (fun _ -> w) c.c_parts)) ]
    @ List.concat (List.mapi part c.c_parts))

let broken_relational grade a (c : relcert) =
  let v = by_trees (grow a c.e_hints) and w = pgrow c in
  let node k n = Printf.sprintf "nodes[%d]: pair-end, pair-move, pair-shift, pair-potential, pair-output or pair-fact" k,
    (fun () -> check_rnode grade v c w n) in
  match List.find_opt (fun (_, ok) -> not (ok ())) (of_model grade a v c.e_claim @ [
    "machine-state, machine-edge or machine-remarks", (fun () -> check_machine a v c w);
    "suffix-class or suffix-able", (fun () -> check_able c w); "suffix-sure", (fun () -> check_sure grade v c w) ]
    @ List.mapi node c.e_nodes) with
  | Some (rule, _) -> rule
  | None -> "pair-initial"

(* What the theorems say of one certificate. *)
let look (a : Automata.t) c j =
  let where = Printf.sprintf "certificates[%d]" c in
  let kind = text (where ^ ".kind") (match List.assoc_opt "kind" (table where j) with Some k -> k | None -> Json.Null) in
  let head = [ pair "certificate" (string_of_int c); pair "kind" (Json.quoted kind) ] in
  let unproved why = head @ [ pair "proved" "false"; pair "because" (Json.quoted why) ] in
  let proved reals integers =
    head @ [ pair "proved" "true"; pair "reals" (string_of_bool reals); pair "integers" (string_of_bool integers) ] in
  let grid = multiples XH in
  let judged (x : cert) =
    let check grade = check grade a.automaton in
    (* Of an automaton that is not about integers it is proved for any inputs that differ by integers. *)
    let on_integers () =
      if a.integer then check grid x || check integers x else check grid x || check grid (Pruning.pruned grid a x) in
    let real () = if a.integer then on_integers () else check real_numbers x in
    let rule () = broken (if a.integer then integers else real_numbers) a.automaton x in
    if real () then proved (not a.integer) (on_integers ())
    else if List.exists (fun (equal, _) -> equal = None) a.automaton.differ then unproved "entries of which there are only so many"
    else if a.integer && check { integers with mixes = true } x then
      unproved "a certificate of an automaton about integers that rests on means of shifts, which need be no integers"
    else match rule () with
      | r when a.integer && r = model_rules -> unproved (r ^ " (guards that exclude each other because there is no number between two integers are not known to)")
      | r -> refuse "%s breaks the rules %s" where r in
  let from_below written check =
    let found grade =
      match written (grade == grid) with
      | x when check grade a.automaton x -> Ok ()
      | _ -> Error ("a certificate of the kind " ^ kind ^ " that breaks a rule, or needs the order of values to tell runs apart")
      | exception Not_proved why -> Error why in
    let on_integers = found grid in
    match (if a.integer then on_integers else found real_numbers), on_integers with
    | Error why, Error _ -> unproved why
    | found, _ -> proved (found = Ok () && not a.integer) (on_integers = Ok ()) in
  match kind with
  | "private" -> judged (Certificates.private_ a where j)
  | "private-in-parts" -> judged (Certificates.in_parts a where j)
  | "lower" -> from_below (fun integers -> Runs.lower a where j integers) check_lower
  | "violation" ->
      (match text (where ^ ".pattern") (Option.value (List.assoc_opt "pattern" (table where j)) ~default:Json.Null) with
       | "growth" -> from_below (Runs.growth a where j) check_growth
       | "leaking-cycle" | "leaking-pair" | "disclosing-cycle" | "privacy-violating-path" as p ->
           let said = from_below (Runs.pattern a where p j) check_growth in
           if List.mem (pair "proved" "true") said || not a.plain then said
           else (* the run may look like others: then that the pattern occurs is all that there is to say *)
             let f_run, f_where = Certificates.pattern a where p j in
             (match Runs.samples_of_pattern a where p j with
              | f_samples when check_pattern a.automaton { f_run; f_samples; f_where; f_hints = a.hints } ->
                  head @ [ pair "proved" "true"; pair "only" (Json.quoted "pattern"); pair "reals" "true"; pair "integers" "true" ]
              | _ -> said
              | exception Not_proved _ -> said)
       | p -> refuse "%s has the unknown pattern %s" where p)
  | "relational" ->
      let readings = Certificates.relational a where j in
      let holds grade (automaton, x) = List.exists (check_relational grade automaton) (if grade.smooth || a.integer then [ x ] else [ x; Pairs.weak x ]) in
      let all grade = List.for_all (holds grade) (readings grade) in
      let rule grade =
        let automaton, x = List.find (fun r -> not (holds grade r)) (readings grade) in
        broken_relational grade automaton x in
      let grade = if a.integer then integers else real_numbers in
      let low, high = let _, x = List.hd (readings grade) in entry_of x.e_claim Any in
      if all grade then proved (not a.integer) (a.integer || all (multiples XH))
      else if not (grade.shift_ok low && grade.shift_ok high) then unproved "differences of integers up to a number that is none"
      else refuse "%s breaks the rules %s" where (rule grade)
  | "well-formed" -> unproved ("certificates of the kind " ^ kind)
  | k -> refuse "%s is of the unknown kind %s" where k

let () =
  if Array.length Sys.argv <> 3 then (prerr_endline usage; exit 2);
  let fail ?(rule = "") status k message =
    put (pair k (Json.quoted message) :: (if rule = "" then [] else [ pair "rule" (Json.quoted rule) ])); exit status in
  try
    let automaton = Json.parse (file Sys.argv.(1)) and certificate = Json.parse (file Sys.argv.(2)) in
    let top = members "the file" [ "format"; "version"; "automaton"; "certificates" ] [] certificate in
    if List.assoc "format" top <> Json.Text "symdipa-certificate" || List.assoc "version" top <> Json.Int 1 then
      refuse "the file is not of format \"symdipa-certificate\" and version 1";
    let about = members "automaton" [ "sha256" ] [ "name" ] (List.assoc "automaton" top) in
    ignore (optional "name" about (text "automaton.name") "");
    let digest = text "automaton.sha256" (List.assoc "sha256" about) in
    let a = Automata.read automaton in
    if digest <> a.digest then raise Another;
    let found = items "certificates" (List.assoc "certificates" top) in
    if found = [] then refuse "the file has no certificate";
    let said = List.mapi (look a) found in
    put [ pair "accepted" "true"; pair "certificates" ("[" ^ String.concat ", " (List.map (fun l -> "{" ^ String.concat ", " l ^ "}") said) ^ "]") ];
    exit (if List.exists (List.mem (pair "proved" "true")) said then 0 else 3)
  with
  | Another -> fail 1 ~rule:"automaton" "refused" "the certificate was made for another automaton"
  | Refused m -> fail 1 "refused" m
  | Json.Broken m -> fail 1 ~rule:"json" "refused" ("not JSON as certificates have it: " ^ m)
  | Not_proved m -> fail 3 "not_proved" m
  | Stack_overflow -> fail 2 "unusable" "too large for the stack; raise its limit with ulimit -s"
