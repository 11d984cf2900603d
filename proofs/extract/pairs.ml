(* Certificates of the kind relational in JSON, for the checker.  But for the claim none of this is trusted: the checker judges
   the machine, its letters, classes and nodes, whatever they were read from. *)

open Checker
open Reading

(* What is seen of a step, as certificates have it. *)
let unprompted = "unprompted "
let shows (a : Automata.t) (t : trans) =
  let part = function
    | Sym s -> "symbol " ^ a.symbol s
    | Other -> "insampleprime"
    | Number _ -> if a.plain then "insample" else "number" in
  match List.map part t.out with
  | [ one ] -> one
  | l -> "[" ^ String.concat ", " (List.map Json.quoted l) ^ "]"
let stop = "stop"
let is_stop s = s = stop || s = unprompted ^ stop

(* The automaton that shows that a run stops: where no guard holds a transition to one more state shows one more symbol.  What
   guards leave out is written as guards that exclude each other: of each atom the ones before hold, and it does not, strictly if
   equality has probability 0.  Also the number of the first new transition. *)
let most_pieces = 10_000
let with_stops grade (a : Automata.t) =
  let old = a.automaton in
  let view = by_trees (grow old a.hints) in
  let states = Array.of_list old.states in
  let stopped = Array.length states and first = List.length old.transitions in
  let leaving = Array.make stopped [] in
  List.iter (fun (t : trans) -> leaving.(t.src) <- t :: leaving.(t.src)) old.transitions;
  let halt = 1 + List.fold_left (fun m (t : trans) ->
    List.fold_left (fun m i -> match i with Sym s -> max m s | _ -> m) m t.out) (-1) old.transitions in
  let rec options held = function [], _ | _, [] -> [] | b :: l, no :: m -> (no :: held) :: options (b :: held) (l, m) in
  let spots piece = List.concat_map (fun (b : atom) -> [ spot_in false b.low; spot_in false b.high ]) piece in
  let possible t piece = learn_atoms grade false (support view t @ piece) (unknown (spots (support view t @ piece))) <> None in
  let pieces q = List.fold_left (fun pieces t ->
    let found = List.concat_map (fun piece -> List.filter (possible t) (List.map (fun o -> o @ piece) (options [] (atoms t, denials grade view t)))) pieces in
    if List.length found > most_pieces then refuse "there are more than %d cases in which no branch of a state is taken (limit)" most_pieces;
    found) [ [] ] leaving.(q) in
  let stop_at q = List.map (fun piece ->
    { src = q; tgt = stopped; t_ge = []; t_lt = []; others = piece; asg = []; copies = []; sets = []; out = [ Sym halt ] }) (pieces q) in
  let more = List.concat_map stop_at (List.init stopped Fun.id) in
  let nothing = { reads = false; law_of = Laplace; d = zero; mu = zero; law_of' = Laplace; d' = zero; mu' = zero; factors = [] } in
  let state q s = if leaving.(q) = [] then { s with reads = false } else s in
  { old with states = List.mapi state old.states @ [ nothing ]; transitions = old.transitions @ more }, first

(* Sets of machine states such that each path leads through some of them, and pairs of states to which one path leads. *)
let most = 100_000
let witness transitions accepting edges =
  let leaving = Hashtbl.create 97 in
  List.iter (fun e -> Hashtbl.add leaving e.m_source e) edges;
  let number = Hashtbl.create 97 and sets = Queue.create () in
  let known s = match Hashtbl.find_opt number s with
    | Some k -> k
    | None ->
        let k = Hashtbl.length number in
        if k >= most then refuse "the machine leads to more than %d sets of states (limit)" most;
        Hashtbl.add number s k; Queue.add s sets; k in
  ignore (known [ 0 ]);
  let found = ref [] in
  while not (Queue.is_empty sets) do
    let s = Queue.pop sets in
    let edges = List.concat_map (Hashtbl.find_all leaving) s in
    let after t = List.sort_uniq compare (List.filter_map (fun e -> if e.m_by = t then Some e.m_target else None) edges) in
    found := (s, List.map (fun t -> t, known (after t)) (transitions s)) :: !found
  done;
  let pairs = Hashtbl.create 97 and work = Queue.create () in
  let note p = if not (Hashtbl.mem pairs p) then begin
    if Hashtbl.length pairs >= most then refuse "the machine leads to more than %d pairs of states (limit)" most;
    Hashtbl.add pairs p (); Queue.add p work end in
  note (0, (0, false));
  while not (Queue.is_empty work) do
    let u, (v, differ) = Queue.pop work in
    List.iter (fun e -> List.iter (fun e' ->
      if e.m_by = e'.m_by then note (e.m_target, (e'.m_target, differ || e.m_letter <> e'.m_letter))) (Hashtbl.find_all leaving v)) (Hashtbl.find_all leaving u)
  done;
  { w_sets = List.rev !found; w_pairs = Hashtbl.fold (fun p () l -> p :: l) pairs [] }

let read_one (a : Automata.t) where claim l seen_stops (automaton, first_stop) =
  let part key keys = let w = where ^ "." ^ key in w, members w keys [] (List.assoc key l) in
  if a.unfolds then refuse "%s: pairs of runs are not about automata where not all entries may differ, or with registers" where;
  let mirrored t = List.exists (fun o -> o.low.negative || o.high.negative) t.others in
  if List.exists mirrored a.automaton.transitions then refuse "%s: pairs of runs are not about automata that compare negatives" where;
  if a.plain && a.variable "insample" <> None then refuse "a variable has the name of a sample";
  let stopped = List.length a.automaton.states in
  let transitions = Array.of_list automaton.transitions in
  let stats = Array.of_list automaton.states in
  let leaving = Array.make (stopped + 1) [] in
  Array.iteri (fun i (t : trans) -> leaving.(t.src) <- i :: leaving.(t.src)) transitions;
  (* The machine. *)
  let w, m = part "machine" [ "states"; "accepting"; "edges" ] in
  let control = Array.of_list (List.map (function Json.Null -> stopped | s -> a.state (text w s)) (items w (List.assoc "states" m))) in
  let state = number w (Array.length control) in
  let states j = List.map state (items w j) in
  let accepting = states (List.assoc "accepting" m) in
  let letters = Hashtbl.create 97 and seen = Hashtbl.create 97 and order = Queue.create () in
  let kinds (t : trans) = List.map sight_of t.out in
  let letter shown remark kind =
    match Hashtbl.find_opt letters (shown, remark) with
    | Some n -> n
    | None -> let n = Hashtbl.length letters in Hashtbl.add letters (shown, remark) n; Queue.add kind order; n in
  let nowhere = { prompted = false; sights = [] } in
  let edge j =
    match items w j with
    | [ u; t; remark; v ] ->
        let u = state u and v = state v and remark = text w remark in
        let t = match t with Json.Null -> None | t -> Some (number w first_stop t) in
        if Hashtbl.mem seen (u, t, remark) then refuse "%s has an edge that is given twice (machine-edge)" w;
        Hashtbl.add seen (u, t, remark) ();
        let by t shown =
          let reads = stats.(transitions.(t).src).reads in
          { m_source = u; m_by = t; m_target = v;
            m_letter = letter ((if reads then "" else unprompted) ^ shown) remark { prompted = reads; sights = kinds transitions.(t) } } in
        (match t with
         | None ->
             if control.(u) = stopped || control.(v) <> stopped then refuse "%s has a stop that leads from nowhere, or on (machine-edge)" w;
             List.filter_map (fun t -> if t >= first_stop then Some (by t stop) else None) leaving.(control.(u))
         | Some t -> [ by t (shows a transitions.(t)) ])
    | l -> refuse "%s has an edge of %d items, not 4" w (List.length l) in
  let edges = List.concat_map edge (items w (List.assoc "edges" m)) in
  let known_letter w shown remark =
    let shown = text w shown and remark = text w remark in
    (shown, remark), if is_stop shown && not seen_stops then None else Some (letter shown remark nowhere) in
  (* Classes. *)
  let ws, s = part "suffixes" [ "able"; "sure"; "before" ] in
  let sets key = List.map states (items ws (List.assoc key s)) in
  let able = sets "able" and sure = sets "sure" in
  let classes = List.length able in
  if classes = 0 || List.length sure <> classes then refuse "%s has not as many able and sure sets (suffix-class)" ws;
  let cls = number ws classes in
  let seen = Hashtbl.create 97 in
  let before = List.filter_map (fun j ->
    match items ws j with
    | [ rest; shown; remark; c ] ->
        let rest = cls rest and c = cls c in
        let key, x = known_letter ws shown remark in
        if Hashtbl.mem seen (rest, key) then refuse "%s: a letter before a class makes two classes (suffix-class)" ws;
        Hashtbl.add seen (rest, key) ();
        Option.map (fun x -> (rest, x), c) x
    | l -> refuse "%s has %d items, not 4" ws (List.length l)) (items ws (List.assoc "before" s)) in
  (* Nodes. *)
  let wn = where ^ ".nodes" in
  let found = items wn (List.assoc "nodes" l) in
  let node_number = number wn (List.length found) in
  let spot j = match items wn j with
    | [ Json.Int 0; Json.Text "0" ] -> false, Zero
    | [ Json.Int (1 | 2 as c); Json.Text x ] ->
        (match a.variable x with Some n -> c = 2, Held n | None -> refuse "%s: %s is no variable (pair-node)" wn x)
    | _ -> refuse "%s has a fact about what is no value of a copy (pair-node)" wn in
  let fact j = match items wn j with
    | [ u; v; r; c ] ->
        let below = match text wn r with "<" -> true | "<=" -> false | r -> refuse "%s has the relation %s (pair-node)" wn r in
        { f_low = spot u; f_high = spot v; f_limit = { most = rational wn c; unreached = below } }
    | l -> refuse "%s has a fact of %d items, not 4" wn (List.length l) in
  let move j =
    let m = members wn [ "shows"; "remark"; "suffix"; "shift"; "after" ] [] j in
    let key, x = known_letter wn (List.assoc "shows" m) (List.assoc "remark" m) in
    let rest = cls (List.assoc "suffix" m) in
    let shift = match List.assoc "shift" m with Json.Null -> None | v -> Some (interval wn v) in
    let after = List.map node_number (items wn (List.assoc "after" m)) in
    (key, rest), Option.map (fun x -> { mv_letter = x; mv_rest = rest; mv_shift = shift; mv_after = after }) x in
  let node j =
    let n = members wn [ "first"; "second"; "suffix"; "facts"; "potential"; "moves" ] [] j in
    let facts = List.map fact (items wn (List.assoc "facts" n)) in
    let moves = List.map move (items wn (List.assoc "moves" n)) in
    if twice (List.map (fun f -> f.f_low, f.f_high) facts) <> None then refuse "%s has two facts about the same values (pair-node)" wn;
    if twice (List.map fst moves) <> None then refuse "%s has a move that is given twice (pair-move)" wn;
    { n_first = states (List.assoc "first" n); n_second = states (List.assoc "second" n); n_suffix = cls (List.assoc "suffix" n);
      n_facts = facts; n_pot = rational wn (List.assoc "potential" n); n_moves = List.filter_map snd moves } in
  let nodes = List.map node found in
  let initial = List.map node_number (items where (List.assoc "initial" l)) in
  let transitions_of = function [] -> [] | u :: _ -> leaving.(control.(u)) in
  { e_claim = claim;
    e_machine = { m_control = Array.to_list control; m_accepting = accepting; m_edges = edges; m_letters = List.of_seq (Queue.to_seq order) };
    e_suffixes = { s_able = able; s_sure = sure; s_before = before };
    e_nodes = nodes; e_initial = initial; e_hints = { a.hints with stored = Automata.needed automaton }; e_witness = witness transitions_of accepting edges }

(* The certificate for who does not see that a run stops, where the letters that tell are left out, and for who does. *)
let read (a : Automata.t) where claim l =
  let without = read_one a where claim l false (a.automaton, List.length a.automaton.transitions) in
  fun grade ->
    let seen = with_stops grade a in
    [ a.automaton, without; fst seen, read_one a where claim l true seen ]

(* All facts as "<=".  Where ties have probability 0 the file takes comparisons as strict, which is too much for integers. *)
let weak c =
  let fact f = { f with f_limit = { f.f_limit with unreached = false } } in
  { c with e_nodes = List.map (fun n -> { n with n_facts = List.map fact n.n_facts }) c.e_nodes }
