# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2055

@karpenter @issue-2055
Feature: The API server refuses a NodePool that Karpenter cannot read

  @karpenter-2055-no-duration
  Scenario: One NodePool is to have a duration that is none, and another one is created after it
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When the API server is asked to create these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: malformed}
      spec:
        disruption: {consolidateAfter: 1hr}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    And these objects are created:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: late}
      spec:
        disruption: {consolidateAfter: 1h}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: late}
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    And "kubectl" has been refused "create" of "nodepools" "malformed" with "consolidateAfter" within 1s
