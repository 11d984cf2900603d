(* Certificates of the kind relational, and their checker: two copies of the automaton run side by side and show the same.
   docs/certificates.md has the rules; names of definitions follow it. *)
From Coq Require Import QArith List Bool Arith.
From Symdipa.Core Require Import Model Lookup Checker Differences.
Import ListNotations.
Open Scope bool_scope.

(* ---- Certificates ---- *)

(* A letter: whether an input is read, and what is shown.  Letters with different numbers may have the same; what tells them
   apart then, the remark, is seen by nobody. *)
Inductive sight := Symbol (s : nat) | Some_number | Other_number.
Record letter_of := Letter { prompted : bool; sights : list sight }.

(* Source, transition, letter, target. *)
Record medge := Medge { m_source : nat; m_by : nat; m_letter : nat; m_target : nat }.
Record machine := {
  m_control : list nat;                    (* the state of the automaton for each of the machine's *)
  m_accepting : list nat; m_edges : list medge; m_letters : list letter_of
}.

(* Classes of what is still to be seen; [before] has the class of what follows, a letter, and the class of both. *)
Record suffixes := { s_able : list (list nat); s_sure : list (list nat); s_before : list (nat * nat * nat) }.

Record fact := Fact { f_low : spot; f_high : spot; f_limit : limit }.
(* The letter and the class of the rest; the range of what the second sample is larger by; the nodes that follow. *)
Record move := { mv_letter : nat; mv_rest : nat; mv_shift : option (Q * Q); mv_after : list nat }.
Record rnode := { n_first : list nat; n_second : list nat; n_suffix : nat; n_facts : list fact; n_pot : Q; n_moves : list move }.

(* No part of the file, and checked, not believed: sets of machine states such that each path leads through some of them, with
   the number of the next one by transition; and the pairs of states that one path leads to, with whether what is seen or
   remarked may differ. *)
Record witness := { w_sets : list (list nat * list (nat * nat)); w_pairs : list (nat * (nat * bool)) }.

Record relcert := {
  e_claim : claim; e_machine : machine; e_suffixes : suffixes; e_nodes : list rnode; e_initial : list nat;
  e_hints : hints; e_witness : witness
}.

(* ---- Looking things up ---- *)

Definition rnode0 := {| n_first := []; n_second := []; n_suffix := 0; n_facts := []; n_pot := 0; n_moves := [] |}.
Definition letter0 := Letter false [].
Definition b_rest (b : nat * nat * nat) := fst (fst b).
Definition b_letter (b : nat * nat * nat) := snd (fst b).
Definition b_class (b : nat * nat * nat) := snd b.

Record pview := {
  control_of : nat -> nat; edges_of : nat -> list medge; letter_at : nat -> letter_of;
  able_of : nat -> list nat; sure_of : nat -> list nat;
  before_of : nat -> list (nat * nat * nat); made_of : nat -> list (nat * nat * nat);   (* by the class of the rest, and of both *)
  node_at : nat -> rnode; set_at : nat -> list nat * list (nat * nat); pairs_of : nat -> list (nat * (nat * bool))
}.
Definition pplain (C : relcert) : pview := let M := e_machine C in let S := e_suffixes C in {|
  control_of := fun u => nth u (m_control M) 0%nat; edges_of := having m_source (m_edges M);
  letter_at := fun x => nth x (m_letters M) letter0;
  able_of := fun s => nth s (s_able S) []; sure_of := fun s => nth s (s_sure S) [];
  before_of := having b_rest (s_before S); made_of := having b_class (s_before S);
  node_at := fun n => nth n (e_nodes C) rnode0; set_at := fun k => nth k (w_sets (e_witness C)) ([], []);
  pairs_of := having fst (w_pairs (e_witness C)) |}.
(* The same by trees. *)
Definition pgrow (C : relcert) : pview := let M := e_machine C in let S := e_suffixes C in
  let controls := array (m_control M) in let edges := index m_source (m_edges M) in let letters := array (m_letters M) in
  let able := array (s_able S) in let sure := array (s_sure S) in
  let before := index b_rest (s_before S) in let made := index b_class (s_before S) in
  let nodes := array (e_nodes C) in let sets := array (w_sets (e_witness C)) in let pairs := index fst (w_pairs (e_witness C)) in {|
  control_of := at_place 0%nat controls; edges_of := with_key edges; letter_at := at_place letter0 letters;
  able_of := at_place [] able; sure_of := at_place [] sure;
  before_of := with_key before; made_of := with_key made;
  node_at := at_place rnode0 nodes; set_at := at_place ([], []) sets; pairs_of := with_key pairs |}.
Lemma pgrow_plain C : pgrow C = pplain C.
Proof. unfold pgrow, pplain. cbv zeta. now rewrite !at_array, !index_spec. Qed.

(* ---- What a step does with values ---- *)

Definition sight_of (i : item) : sight := match i with Sym s => Symbol s | Number _ _ => Some_number | Other => Other_number end.
Definition sight_eqb (a b : sight) : bool :=
  match a, b with
  | Symbol s, Symbol s' => Nat.eqb s s' | Some_number, Some_number => true | Other_number, Other_number => true | _, _ => false end.
Definition is_symbol (a : sight) : bool := match a with Symbol _ => true | _ => false end.

Fixpoint all2 {X Y} (f : X -> Y -> bool) (l : list X) (l' : list Y) : bool :=
  match l, l' with [], [] => true | x :: m, y :: m' => f x y && all2 f m m' | _, _ => false end.

Definition term_eqb (a b : term) : bool := same_place a b && Qeq_bool (plus a) (plus b).
Definition atom_eqb (a b : atom) : bool := term_eqb (low a) (low b) && term_eqb (high a) (high b) && Bool.eqb (strict a) (strict b).
Definition number_eqb (i j : item) : bool :=
  match i, j with
  | Number a b, Number a' b' => term_eqb a a' && term_eqb b b'
  | Number _ _, _ | _, Number _ _ => false
  | _, _ => true
  end.
(* Where what a term says is found, and what is added to it. *)
Definition spot_in (c : bool) (v : term) : spot := spot_of c (whence v).
Definition learn_facts (l : list fact) (M : option matrix) : option matrix :=
  fold_right (fun f => learn (f_low f) (f_high f) (f_limit f)) M l.

(* What a value is after a step: one of before, and what is added; None: nothing that is known. *)
Definition origin (t : trans) (x : spot) : option (spot * Q) :=
  let (c, p) := x in
  match p with
  | Zero => Some (x, 0)
  | Insample => None
  | Held y => if mem y (asg t) then Some ((c, Insample), 0)
              else match lookup y (copies t) with
                   | Some v => if negative v then None else Some (spot_in c v, plus v)
                   | None => Some (x, 0)
                   end
  end.
Definition fact_follows (M : matrix) (t t' : trans) (f : fact) : bool :=
  let of x := origin (if fst x : bool then t' else t) x in
  match of (f_low f), of (f_high f) with
  | Some (x, p), Some (y, p') => match between M x y with
                                 | Some b => at_most (after b (Limit (p - p') false)) (f_limit f)
                                 | None => false end
  | _, _ => false
  end.

(* By how much a term of the first copy is larger than one of the second, if that is known. *)
Definition apart (M : matrix) (a a' : term) : option Q :=
  if negative a || negative a' then None
  else match between M (spot_in false a) (spot_in true a'), between M (spot_in true a') (spot_in false a) with
       | Some b, Some b' => if Qeq_bool (most b + most b') 0 then Some (most b + (plus a - plus a'))%Q else None
       | _, _ => None
       end.
Definition same_item (M : matrix) (i i' : item) : bool :=
  match i, i' with
  | Number a b, Number a' b' => match apart M a a', apart M b b' with Some x, Some y => Qeq_bool x y | _, _ => false end
  | Number _ _, _ | _, Number _ _ => false
  | _, _ => true
  end.

Section Relational.
Variables (g : grade) (A : automaton) (V : view) (C : relcert) (W : pview).

(* ---- What a step does, but with probability 0 ---- *)

(* What is below an integer is at most the one before it. *)
Definition tight (b : limit) : limit :=
  if whole g && unreached b && shift_ok g (most b) then Limit (most b - 1) false else b.
(* What a comparison says; of negatives nothing. *)
Definition learn_atom (c : bool) (a : atom) (M : option matrix) : option matrix :=
  if negative (low a) || negative (high a) then M
  else learn (spot_in c (low a)) (spot_in c (high a)) (tight (Limit (plus (high a) - plus (low a)) (strict a))) M.
Definition learn_atoms (c : bool) (l : list atom) (M : option matrix) : option matrix := fold_right (learn_atom c) M l.
(* Some transition can always be taken: of each that cannot one of these comparisons holds. *)
Fixpoint goes_on (c : bool) (l : list (list atom)) (M : option matrix) : bool :=
  match M with
  | None => true
  | Some _ => match l with [] => false | denials :: l' => forallb (fun a => goes_on c l' (learn_atom c a M)) denials end
  end.

Definition denied (a : atom) : atom := {| low := high a; high := low a; strict := negb (strict a) |}.
(* One of these holds where the guard does not. *)
Definition denials (t : trans) : list atom := map (fun a => stricter (fresh_pair g V t (low a) (high a)) (denied a)) (atoms t).
Definition same_atoms : list atom -> list atom -> bool := all2 atom_eqb.
Definition guard_eqb (t t' : trans) : bool :=
  same_atoms (atoms t) (atoms t') && same_atoms (sure g V t) (sure g V t') &&
  same_atoms (denials t) (denials t') && same_atoms (support V t) (support V t').
(* Two transitions with the same guard that store and show the same numbers. *)
Definition effect_eqb (t t' : trans) : bool :=
  guard_eqb t t' && all2 Nat.eqb (asg t) (asg t') &&
  all2 (fun c c' => Nat.eqb (fst c) (fst c') && term_eqb (snd c) (snd c')) (copies t) (copies t') &&
  all2 number_eqb (out t) (out t').
(* Some transition of a copy can be taken, wherever its sample is. *)
Definition can_go_on (c : bool) (l : list trans) (M : option matrix) : bool :=
  goes_on c (map denials l) (learn_atoms c (flat_map (support V) l) M).

(* ---- The machine ---- *)

Definition edge_by (u x i : nat) : option nat :=
  match find (fun e => Nat.eqb (m_letter e) x && Nat.eqb (m_by e) i) (edges_of W u) with Some e => Some (m_target e) | None => None end.

(* machine-edge; a letter and a transition lead to one state. *)
Definition check_medge (e : medge) : bool :=
  let t := tr_of V (m_by e) in
  let x := letter_at W (m_letter e) in
  Nat.ltb (m_by e) (length (transitions A)) && Nat.ltb (m_letter e) (length (m_letters (e_machine C))) &&
  Nat.eqb (src t) (control_of W (m_source e)) && Nat.eqb (tgt t) (control_of W (m_target e)) &&
  Bool.eqb (reads (st_of V (src t))) (prompted x) && all2 sight_eqb (map sight_of (out t)) (sights x) &&
  match edge_by (m_source e) (m_letter e) (m_by e) with Some v => Nat.eqb v (m_target e) | None => false end.

Definition accepts (u : nat) : bool := mem u (m_accepting (e_machine C)).

(* machine-remarks: every path has an accepted sequence of letters, *)
Definition check_set (S : list nat * list (nat * nat)) : bool :=
  match fst S with
  | [] => false
  | u :: _ => existsb accepts (fst S) &&
      forallb (fun i => match lookup i (snd S) with
        | Some k => forallb (fun v => existsb (fun u =>
                      existsb (fun e => Nat.eqb (m_by e) i && Nat.eqb (m_target e) v) (edges_of W u)) (fst S)) (fst (set_at W k)) &&
                    Nat.ltb k (length (w_sets (e_witness C)))
        | None => false end) (leaving_of V (control_of W u))
  end.
(* and not two. *)
Definition has_pair (u v : nat) (differ : bool) : bool :=
  existsb (fun p => Nat.eqb (fst (snd p)) v && Bool.eqb (snd (snd p)) differ) (pairs_of W u).
Definition check_pair (p : nat * (nat * bool)) : bool :=
  let '(u, (v, differ)) := p in
  negb (differ && accepts u && accepts v) &&
  forallb (fun e => forallb (fun e' => negb (Nat.eqb (m_by e) (m_by e')) ||
    has_pair (m_target e) (m_target e') (differ || negb (Nat.eqb (m_letter e) (m_letter e')))) (edges_of W v)) (edges_of W u).

Definition check_machine : bool :=
  Nat.eqb (control_of W 0) (initial A) && forallb check_medge (m_edges (e_machine C)) &&
  Nat.ltb 0 (length (w_sets (e_witness C))) && (match fst (set_at W 0) with [u] => Nat.eqb u 0%nat | _ => false end) &&
  forallb check_set (w_sets (e_witness C)) && has_pair 0 0 false && forallb check_pair (w_pairs (e_witness C)).

(* ---- Classes ---- *)

Definition class_before (rest x : nat) : option nat :=
  match find (fun b => Nat.eqb (b_letter b) x) (before_of W rest) with Some b => Some (b_class b) | None => None end.

(* suffix-class and suffix-able. *)
Definition check_able : bool :=
  forallb (fun u => mem u (able_of W 0)) (m_accepting (e_machine C)) &&
  forallb (fun rest => forallb (fun e => negb (mem (m_target e) (able_of W rest)) ||
    match class_before rest (m_letter e) with Some s => mem (m_source e) (able_of W s) | None => false end) (m_edges (e_machine C)))
    (numbers (s_able (e_suffixes C))).

(* All that the guards of a state speak of. *)
Definition spots_of (c : bool) (q : nat) : list spot :=
  (false, Zero) :: (c, Insample) :: flat_map (fun i => flat_map (fun a => [spot_in c (low a); spot_in c (high a)]) (atoms (tr_of V i))) (leaving_of V q).
Definition always_goes_on (q : nat) : bool := can_go_on true (map (tr_of V) (leaving_of V q)) (unknown (spots_of true q)).

(* suffix-sure. *)
Definition check_sure_state (x rest u : nat) : bool :=
  forallb is_symbol (sights (letter_at W x)) && always_goes_on (control_of W u) &&
  forallb (fun i => match edge_by u x i with Some v => mem v (sure_of W rest) | None => false end) (leaving_of V (control_of W u)).
Definition check_sure : bool :=
  forallb accepts (sure_of W 0) &&
  forallb (fun b => forallb (check_sure_state (b_letter b) (b_rest b)) (sure_of W (b_class b))) (s_before (e_suffixes C)).

(* ---- What a move costs ---- *)

Definition differences (x : nat) : Q * Q := entry_of (e_claim C) (if prompted (letter_at W x) then Any else Same).

Definition maximum (x y : Q) : Q := if Qle_bool x y then y else x.
(* A sample of the second copy is larger by something in the range.  What costs nothing is how much its mean is larger. *)
Definition price (l : law) (d' : Q) (apart : Q) (D shift : Q * Q) : option Q :=
  let above := (fst shift - (apart - snd D))%Q in
  let under := ((apart - fst D) - snd shift)%Q in
  if (match l with
      | Laplace => true
      | Exponential => Qle_bool under 0
      | Exact => Qle_bool under 0 && Qle_bool above 0 end)
  then Some (d' * maximum 0 (maximum above under))%Q else None.

Definition law_eqb (l l' : law) : bool :=
  match l, l' with Laplace, Laplace => true | Exponential, Exponential => true | Exact, Exact => true | _, _ => false end.

(* pair-shift: of the sample that is tied, and of the other one that is shown. *)
Definition price_of_tie (s s' : stat) (D : Q * Q) (shift : option (Q * Q)) : option Q :=
  match shift with
  | None => Some 0
  | Some (a, b) =>
      if Qle_bool a b && law_eqb (law_of s) (law_of s') && Qeq_bool (d s) (d s') && is_live (law_of s) (d s) &&
         shift_ok g a && shift_ok g b && shift_ok g (mu s' - mu s)
      then price (law_of s) (d s) (mu s' - mu s) D (a, b) else None
  end.
Definition price_of_other (s s' : stat) (D : Q * Q) (shown : bool) : option Q :=
  if shown then
    if law_eqb (law_of' s) (law_of' s') && Qeq_bool (d' s) (d' s') && is_live (law_of' s) (d' s) && shift_ok g (mu' s' - mu' s)
    then price (law_of' s) (d' s) (mu' s' - mu' s) D (0, 0) else None
  else Some 0.
Definition shows_other_number (x : nat) : bool := existsb (sight_eqb Other_number) (sights (letter_at W x)).
Definition paid (s s' : stat) (x : nat) (shift : option (Q * Q)) : option Q :=
  match price_of_tie s s' (differences x) shift, price_of_other s s' (differences x) (shows_other_number x) with
  | Some p, Some p' => Some (p + p')%Q
  | _, _ => None
  end.

Definition stat_eqb (s s' : stat) : bool :=
  Bool.eqb (reads s) (reads s') && law_eqb (law_of s) (law_of s') && Qeq_bool (d s) (d s') && Qeq_bool (mu s) (mu s') &&
  law_eqb (law_of' s) (law_of' s') && Qeq_bool (d' s) (d' s') && Qeq_bool (mu' s) (mu' s').
Definition stats_of (us : list nat) : list stat := different stat_eqb (map (fun u => st_of V (control_of W u)) us).

(* pair-potential. *)
Definition check_paid (n : rnode) (x : nat) (mv : move) (firsts seconds : list nat) : bool :=
  forallb (fun s => forallb (fun s' => Bool.eqb (reads s') (prompted (letter_at W x)) && match paid s s' x (mv_shift mv) with
    | Some p => forallb (fun k => Qle_bool (p + n_pot (node_at W k)) (n_pot n)) (mv_after mv)
    | None => false end) (stats_of seconds)) (stats_of firsts).

(* ---- Where a move leads ---- *)

(* What states do, and where that leads (None: to another letter). *)
Definition doings := list (trans * list (option nat)).
Fixpoint note (t : trans) (v : option nat) (l : doings) : doings :=
  match l with
  | [] => [(t, [v])]
  | (t', vs) :: l' => if effect_eqb t t' then (t', v :: vs) :: l' else (t', vs) :: note t v l'
  end.
Definition doings_of (us : list nat) (x : nat) : doings :=
  fold_right (fun u l => fold_right (fun i l => note (tr_of V i) (edge_by u x i) l) l (leaving_of V (control_of W u))) [] us.
Definition targets (vs : list (option nat)) : list nat := flat_map (fun o => match o with Some v => [v] | None => [] end) vs.

Definition guards_eqb (l l' : list trans) : bool := all2 guard_eqb l l'.
Definition choices_of (us : list nat) : list (list trans) :=
  different guards_eqb (map (fun u => map (tr_of V) (leaving_of V (control_of W u))) us).

Definition tied (shift : option (Q * Q)) (M : option matrix) : option matrix :=
  match shift with
  | Some (a, b) => learn (true, Insample) (false, Insample) (Limit b false)
                     (learn (false, Insample) (true, Insample) (Limit (- a) false) M)
  | None => M
  end.
Definition spots (n : rnode) (us vs : list nat) : list spot :=
  flat_map (fun f => [f_low f; f_high f]) (n_facts n) ++
  flat_map (fun u => spots_of false (control_of W u)) us ++ flat_map (fun v => spots_of true (control_of W v)) vs.

(* pair-output and pair-fact. *)
Definition check_both (rest : nat) (mv : move) (d1 : trans * list nat) (d2 : trans * list (option nat)) (M : option matrix) : bool :=
  match learn_atoms true (sure g V (fst d2)) M with
  | None => true
  | Some M =>
      forallb is_some (snd d2) && all2 (same_item M) (out (fst d1)) (out (fst d2)) &&
      existsb (fun k => let n' := node_at W k in
        Nat.eqb (n_suffix n') rest && subset (snd d1) (n_first n') && subset (targets (snd d2)) (n_second n') &&
        forallb (fact_follows M (fst d1) (fst d2)) (n_facts n')) (mv_after mv)
  end.
Definition check_move (n : rnode) (x rest : nat) (mv : move) (firsts seconds : list nat) : bool :=
  check_paid n x mv firsts seconds &&
  let M := tied (mv_shift mv) (learn_facts (n_facts n) (unknown (spots n firsts seconds))) in
  let choices := choices_of seconds in
  let others := doings_of seconds x in
  forallb (fun d1 =>
    match filter (fun v => mem v (able_of W rest)) (targets (snd d1)) with
    | [] => true
    | us => let M1 := learn_atoms false (sure g V (fst d1)) M in
            forallb (fun l => can_go_on true l M1) choices && forallb (fun d2 => check_both rest mv (fst d1, us) d2 M1) others
    end) (doings_of firsts x).

Definition can_show (x rest u : nat) : bool :=
  existsb (fun e => Nat.eqb (m_letter e) x && mem (m_target e) (able_of W rest)) (edges_of W u).

(* pair-end and pair-move. *)
Definition check_rnode (n : rnode) : bool :=
  Qle_bool 0 (n_pot n) &&
  match without (n_second n) (sure_of W (n_suffix n)) with
  | [] => true
  | seconds =>
      (negb (Nat.eqb (n_suffix n) 0) || negb (existsb accepts (n_first n)) || forallb accepts seconds) &&
      forallb (fun b => let x := b_letter b in let rest := b_rest b in
        match filter (can_show x rest) (n_first n) with
        | [] => true
        | firsts => match find (fun mv => Nat.eqb (mv_letter mv) x && Nat.eqb (mv_rest mv) rest) (n_moves n) with
                    | Some mv => check_move n x rest mv firsts seconds
                    | None => false end
        end) (made_of W (n_suffix n))
  end.

(* pair-initial. *)
Definition is_start (s : nat) (n : rnode) : bool :=
  Nat.eqb (n_suffix n) s && mem 0 (n_first n) && mem 0 (n_second n) && negb (nonempty (n_facts n)) && Qle_bool (n_pot n) (c_D (e_claim C)).
Definition check_initial : bool :=
  forallb (fun s => negb (mem 0 (able_of W s)) ||
    existsb (fun k => is_start s (node_at W k)) (e_initial C)) (numbers (s_able (e_suffixes C))).

Definition check_pairs : bool :=
  check_claim (e_claim C) && check_model g A V && forallb (fun s => negb (nonempty (factors s))) (states A) &&
  check_machine && check_able && check_sure && forallb check_rnode (e_nodes C) && check_initial.
End Relational.

Definition check_relational (g : grade) (A : automaton) (C : relcert) : bool :=
  check_pairs g A (by_trees (grow A (e_hints C))) C (pgrow C).
Lemma check_relational_plain g A C : check_relational g A C = check_pairs g A (plain A (e_hints C)) C (pplain C).
Proof. unfold check_relational. now rewrite by_trees_plain, pgrow_plain. Qed.
