# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: An upgrade in the middle of a replacement

  @karpenter-4403-pair-replacing
  Scenario: When it replaces a machine by a smaller one, Karpenter is upgraded from the release before
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the second new simulated node is NotReady
    And the release before the target runs in its place until it is upgraded
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 5
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 3
    Then "karpenter" has ever sent "create" of "nodeclaims" 2 times within 5m
    When the scenario waits for 20s
    And the target is upgraded
    # Machines to remove are looked for 1.5s after that and every 10s from then on: one becomes Ready in between.
    And the scenario waits for 3s once this is recorded:
      """
      source: log
      actor: karpenter
      detail: {message: {contains: uccessfully acquired lease}}
      """
    And the fault "the second new simulated node is NotReady" is cleared
    Then 20m from now, exactly 2 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 1 times within 1s
    And every pod is Running within 1m

  @karpenter-4403-hand-over-replacing
  Scenario: While Karpenter replaces a machine by a smaller one, another of its replicas comes to lead
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 12s after their launch and are Ready 1s later
    And the second new simulated node is NotReady
    And the target has 2 replicas
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux, c-8x-amd64-linux]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 5
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then every pod is Running within 6m
    When "Deployment/web" is scaled to 3
    Then "karpenter" has ever sent "create" of "nodeclaims" 2 times within 6m
    When the scenario waits for 25s
    And the leader of the target is killed
    # Machines to remove are looked for 1.5s after that and every 10s from then on: one becomes Ready in between.
    And the scenario waits for 3s once this is recorded:
      """
      source: log
      actor: karpenter
      detail: {message: {contains: uccessfully acquired lease}}
      """
    And the fault "the second new simulated node is NotReady" is cleared
    Then 25m from now, exactly 2 NodeClaims have been created since the start
    And "karpenter" has ever sent "delete" of "nodes" exactly 1 times within 1s
    And every pod is Running within 1m
